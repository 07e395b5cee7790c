"""A TorchScript archive gives up its tensors and nothing else: no code of it is compiled, called or looked up."""

import pickle
import shutil
import zipfile

import pytest
import torch
from plain_clip import Archived, PlainClip
from published_layouts import openai_archive, save_archive

from openworld import backbones
from openworld._errors import OpenworldError
from openworld.backbones.torchscript import read_activation, read_torchscript


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    folder = tmp_path_factory.mktemp("openai")
    openai_archive(folder)
    return folder


@pytest.fixture
def archive(published, tmp_path):
    """A copy of the archive, with its vocabulary, that a test may damage."""
    return shutil.copytree(published, tmp_path / "openai") / "ViT-B-16.pt"


def rewritten(path, change, compression=zipfile.ZIP_STORED):
    """Write an archive anew, each entry through change(name, content)."""
    with zipfile.ZipFile(path) as old:
        entries = [(entry.filename, old.read(entry)) for entry in old.infolist()]
    with zipfile.ZipFile(path, "w", compression) as new:
        for name, content in entries:
            new.writestr(name, change(name, content))


@pytest.mark.filterwarnings("ignore:.*torch.jit.load.*")
def test_tensors_equal_those_that_torch_loads(archive):
    read, wanted = read_torchscript(archive), torch.jit.load(archive).state_dict()
    assert set(read) == set(wanted) == set(Archived().state_dict())
    assert read["visual.proj"].dtype == torch.float16
    assert all(torch.equal(read[name], wanted[name]) for name in wanted)


def test_no_code_is_compiled(archive):
    rewritten(archive, lambda name, content: b"import os; sigmoid(" if "/code/" in name else content)
    assert backbones.load(archive).config.image.activation == "quick_gelu"


def test_the_activation_is_read_off_the_code(tmp_path):
    for quick, activation in ((True, "quick_gelu"), (False, "gelu")):
        save_archive(PlainClip(quick=quick).eval(), tmp_path / f"{activation}.pt")
        assert read_activation(tmp_path / f"{activation}.pt") == activation


def test_an_archive_that_does_not_show_its_activation_is_refused(archive):
    rewritten(archive, lambda name, content: b"" if "/code/" in name else content)
    with pytest.raises(OpenworldError, match="GELU or QuickGELU"):
        backbones.load(archive)


class Touch:
    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return type(self.file).touch, (self.file,)


@pytest.mark.parametrize("protocol", [0, 1, 2, 4])
def test_nothing_that_a_pickle_names_is_run(archive, tmp_path, protocol):
    bomb = pickle.dumps(Touch(tmp_path / "ran"), protocol)
    rewritten(archive, lambda name, content: bomb if name.endswith("/data.pkl") else content)
    with pytest.raises(OpenworldError, match="nothing of it was run"):
        backbones.load(archive)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "content",
    [b"", b"\x80\x02.", b"not a pickle", pickle.dumps({"a": 1}, 2), pickle.dumps([1], 2), b"\x80\x02ctorch\nzeros\n."],
)
def test_a_tree_that_is_no_module_is_refused(archive, content):
    rewritten(archive, lambda name, old: content if name.endswith("/data.pkl") else old)
    with pytest.raises(OpenworldError, match="othing of it was run"):
        backbones.load(archive)


def test_a_storage_that_is_cut_off_is_refused(archive):
    rewritten(archive, lambda name, content: content[:8] if "/data/" in name else content)
    with pytest.raises(OpenworldError, match="not a TorchScript archive of tensors"):
        backbones.load(archive)


def test_compressed_tensors_are_refused(archive):
    rewritten(archive, lambda name, content: content, zipfile.ZIP_DEFLATED)
    with pytest.raises(OpenworldError, match="is compressed"):
        backbones.load(archive)


def test_a_download_that_was_cut_off_is_refused(archive):
    archive.write_bytes(archive.read_bytes()[:-2000])
    with pytest.raises(OpenworldError, match="ViT-B-16.pt"):
        backbones.load(archive)


def test_a_residual_network_is_sent_elsewhere(tmp_path):
    class Residual(Archived):
        def __init__(self):
            super().__init__()
            self.visual.layer1 = torch.nn.ModuleList([torch.nn.Module()])
            self.visual.layer1[0].conv1 = torch.nn.Conv2d(1, 1, 1)

    save_archive(Residual().eval(), tmp_path / "RN50.pt")
    with pytest.raises(OpenworldError, match="RN50.pt.*ResNet.*transformers:.*open_clip:"):
        backbones.load(tmp_path / "RN50.pt")


def test_a_state_dict_alone_does_not_tell_its_activation(tmp_path):
    torch.save(PlainClip().state_dict(), tmp_path / "mine.pt")
    with pytest.raises(OpenworldError, match="open_clip_config.json beside it"):
        backbones.load(tmp_path / "mine.pt")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(OpenworldError, match="there is no file"):
        backbones.load(tmp_path / "ViT-B-16.pt")
