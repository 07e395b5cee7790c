"""Which files a checkpoint needs and where they are: told without network and without reading any."""

import shutil

import pytest

from openworld.backbones import needed_files
from openworld.backbones.published_files import require_data
from openworld.core.errors import OpenworldError


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """An empty home, so that nothing of this machine is found."""
    import huggingface_hub.constants

    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "home"


def purposes(needs):
    return [need.purpose for need in needs]


def test_a_whole_folder_is_complete_and_names_its_files(clip_checkpoint):
    hugging_face, open_clip = needed_files(clip_checkpoint[0])
    assert hugging_face.complete and hugging_face.folder == clip_checkpoint[0]
    assert [need.found[0].name for need in hugging_face.needs] == [
        "model.safetensors",
        "config.json",
        "tokenizer.json",
        "preprocessor_config.json",
    ]
    assert purposes(open_clip.missing) == ["weights", "configuration"]


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "preprocessor_config.json", "model.safetensors"])
def test_what_is_missing_is_told_with_every_file_that_would_do(copy_of_clip, file):
    (copy_of_clip / file).unlink()
    (missing,) = needed_files(copy_of_clip)[0].missing
    assert missing.any_of[0] == (file,) and file in str(missing)


def test_vocabulary_and_merges_go_together(copy_of_clip):
    (copy_of_clip / "tokenizer.json").unlink()
    (copy_of_clip / "vocab.json").write_text("{}")
    assert purposes(needed_files(copy_of_clip)[0].missing) == ["tokenizer"]
    (copy_of_clip / "merges.txt").write_text("")
    assert needed_files(copy_of_clip)[0].complete


def test_shards_count_with_their_index_only(copy_of_clip):
    shutil.move(copy_of_clip / "model.safetensors", copy_of_clip / "model-00001-of-00001.safetensors")
    assert purposes(needed_files(copy_of_clip)[0].missing) == ["weights"]
    (copy_of_clip / "model.safetensors.index.json").write_text("{}")
    assert needed_files(copy_of_clip)[0].complete


def test_of_a_repository_that_is_not_here_everything_is_missing_and_any_folder_does(home):
    hugging_face, open_clip = needed_files("someone/small-clip@refs/pr/3")
    assert hugging_face.folder is open_clip.folder is None
    assert purposes(hugging_face.missing) == ["weights", "configuration", "tokenizer", "preprocessing"]


def test_a_file_may_name_data_that_is_here_and_neither_code_nor_a_fetch(copy_of_clip, home):
    for name in ("embedded", str(copy_of_clip), "classes.npz"):
        assert require_data(name, "thresholds.json", "--backbone {}") == name
    assert require_data("someone/folder", "thresholds.json", "{}", is_read=True) == "someone/folder"
    for name, words in (
        ("package.module:function", "a function, which a file may not start.*say so: --backbone package"),
        ("transformers:a/b", "another library fetches and runs"),
        ("timm:a/b", "another library fetches and runs"),
        ("someone/small-clip", "not whole on this machine"),
    ):
        with pytest.raises(OpenworldError, match=words):
            require_data(name, "thresholds.json", "--backbone {}")
    (copy_of_clip / "tokenizer.json").unlink()
    with pytest.raises(OpenworldError, match="not whole"):
        require_data(str(copy_of_clip), "thresholds.json", "--backbone {}")
