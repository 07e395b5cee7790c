"""What is fetched of a repository, from which revision, and what happens without network."""

import shutil
import warnings

import pytest
import torch
from published_layouts import dfn, timm_conversion, training_checkpoint, write_openai_vocabulary
from safetensors.torch import load_file

from openworld import backbones
from openworld.backbones import BACKBONES, SHORT_NAMES
from openworld.core.errors import OpenworldError

SMALL = {"config.json", "preprocessor_config.json", "tokenizer.json"}


def pickled(folder):
    """Turn the weights of a folder into pytorch_model.bin."""
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


@pytest.fixture
def converted(hub, tmp_path):
    """main has pickled weights alone; the same as safetensors lie in another folder."""
    folder = tmp_path / "converted"
    shutil.copytree(hub.repository, folder)
    pickled(hub.repository)
    return folder


def test_the_hub_is_asked_for_the_needed_files_only(hub, clip_checkpoint):
    hub.revisions["refs/pr/3"] = hub.repository
    for useless in ("tf_model.h5", "open_clip_model.safetensors", "pytorch_model.bin"):
        (hub.repository / useless).write_bytes(b"large")
    model = backbones.load("someone/small-clip@refs/pr/3")
    assert hub.fetched == {*SMALL, "model.safetensors"}
    assert model.fingerprint == backbones.load(clip_checkpoint[0]).fingerprint


def test_of_timms_repository_the_two_towers_are_fetched_and_not_the_image_tower_alone(hub, tmp_path):
    hub.revisions[None] = tmp_path / "timm"
    hub.revisions[None].mkdir()
    timm_conversion(hub.revisions[None])
    backbones.load("timm/vit_base_patch16_clip_224.openai")
    weights = {name for name in hub.fetched if name.endswith((".bin", ".safetensors"))}
    assert weights == {"open_clip_model.safetensors"}


def test_quickgelu_that_a_repository_does_not_state_is_known(hub, tmp_path):
    hub.revisions[None] = tmp_path / "dfn"
    hub.revisions[None].mkdir()
    dfn(hub.revisions[None])
    assert backbones.load("ViT-B-16/dfn2b").config.text.activation == "quick_gelu"
    assert backbones.load(hub.revisions[None]).config.text.activation == "gelu"


@pytest.mark.parametrize(
    ("author", "name", "lists", "fetched"),
    [
        ("SFconvertbot", "someone/small-clip", True, "model.safetensors"),
        ("somebody", "someone/small-clip", True, "pytorch_model.bin"),
        ("SFconvertbot", "someone/small-clip", False, "pytorch_model.bin"),  # the list of requests cannot be had
        ("SFconvertbot", "someone/small-clip@main", True, "pytorch_model.bin"),
    ],
)
def test_where_main_is_pickled_the_hubs_own_conversion_alone_is_taken(
    hub, converted, caplog, author, name, lists, fetched
):
    hub.request(2, hub.repository, "somebody")
    hub.request(7, converted, author)
    hub.lists = lists
    backbones.load(name)
    assert hub.fetched & {"model.safetensors", "pytorch_model.bin"} == {fetched}
    assert len(caplog.messages) == (fetched == "pytorch_model.bin")


@pytest.mark.parametrize("author", ["SFconvertbot", "somebody"])
def test_what_was_fetched_once_is_read_without_network(author, hub, converted):
    hub.request(7, converted, author)
    first = backbones.load("someone/small-clip")
    hub.offline = True
    hub.fetched.clear()
    assert backbones.load("someone/small-clip").fingerprint == first.fingerprint and not hub.fetched
    assert any(one.complete for one in backbones.needed_files("someone/small-clip"))


def test_what_open_clip_has_fetched_is_whole_without_the_vocabulary_that_it_brings(hub, tmp_path):
    snapshot = tmp_path / "hub" / "models--timm--model.openai" / "snapshots" / "main"
    snapshot.mkdir(parents=True)
    timm_conversion(snapshot)
    for name in ("tokenizer.json", "vocab.json", "merges.txt", "tokenizer_config.json", "special_tokens_map.json"):
        (snapshot / name).unlink()
    hub.offline = True
    with pytest.raises(OpenworldError, match="put bpe_simple_vocab_16e6.txt.gz"):
        backbones.load("timm/model.openai")
    write_openai_vocabulary(snapshot)
    assert backbones.load("timm/model.openai").tokenizer(["an owl"])[0][0] == 49406


def test_what_another_library_has_fetched_in_part_is_completed(hub):
    snapshot = hub.cache / "models--someone--small-clip" / "snapshots" / "main"
    snapshot.mkdir(parents=True)
    for name in ("config.json", "model.safetensors"):
        shutil.copy(hub.repository / name, snapshot)
    backbones.load("someone/small-clip")
    assert hub.fetched >= SMALL


def test_no_network_is_one_sentence(hub):
    hub.offline = True
    with pytest.raises(OpenworldError, match="cannot fetch 'a/b' from the hub.*no network.*local folder"):
        backbones.load("a/b")


def test_a_repository_without_two_towers_is_said_to_be_one(hub):
    for file in hub.repository.glob("*.safetensors"):
        file.unlink()
    with pytest.raises(OpenworldError, match="no weights of two towers"):
        backbones.load("someone/small-clip")


def test_a_short_name_means_the_model_of_the_papers(hub):
    assert set(SHORT_NAMES.values()) <= set(BACKBONES)
    short, source = next(iter(SHORT_NAMES.items()))
    assert backbones.load(short).name == source and hub.sources == {source}


def test_without_a_vocabulary_beside_it_a_checkpoint_takes_that_of_the_hub(hub, tmp_path, clip_checkpoint):
    training_checkpoint(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    model = backbones.load(tmp_path / "epoch_32.pt")
    assert hub.sources <= set(BACKBONES) and hub.fetched == SMALL
    assert model.tokenizer(["an owl"]) == backbones.load(clip_checkpoint[0]).tokenizer(["an owl"])


def test_the_vocabulary_may_lie_in_openais_package(hub, tmp_path, monkeypatch):
    (tmp_path / "site" / "clip").mkdir(parents=True)
    (tmp_path / "site" / "clip" / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    training_checkpoint(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    write_openai_vocabulary(tmp_path / "site" / "clip")
    backbones.load(tmp_path / "epoch_32.pt")
    assert not hub.fetched


@pytest.mark.parametrize("described", [False, True])
def test_torchscript_is_refused_with_what_to_give(tmp_path, described):
    """OpenAI's own archives are TorchScript; the hub has the same weights."""
    if described:
        training_checkpoint(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(torch.nn.Linear(1, 1)), tmp_path / "ViT-B-16.pt")
    with pytest.raises(OpenworldError, match="TorchScript.*ViT-B/16.*same weights from the hub"):
        backbones.load(tmp_path / "ViT-B-16.pt")
    with pytest.raises(OpenworldError, match="there is no file"):
        backbones.load(tmp_path / "RN50.pt")


def test_a_state_dict_alone_does_not_tell_its_activation(tmp_path):
    torch.save({"weight": torch.zeros(1)}, tmp_path / "mine.pt")
    with pytest.raises(OpenworldError, match="open_clip_config.json beside it"):
        backbones.load(tmp_path / "mine.pt")
