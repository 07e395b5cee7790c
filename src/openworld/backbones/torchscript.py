"""The tensors of a TorchScript archive, such as OpenAI's ViT-B-16.pt, read without running anything of it.

An archive is a zip: data.pkl, a pickle of the module tree, whose tensors lie in data/0, data/1 and so on, not
compressed; and code/, the source that `torch.jit.load` would compile. Here the code is never compiled, the tree is
built of plain objects, and its pickle may name nothing but tensors, their types and empty modules: every other name
is refused before it is looked up, so that no function of anybody's can be called.
"""

import pickle
import re
import struct
import zipfile
from collections import OrderedDict
from pathlib import Path

import torch
from torch import Tensor

from openworld._errors import OpenworldError

_TYPES = {
    "FloatStorage": torch.float32,
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
    "DoubleStorage": torch.float64,
    "LongStorage": torch.int64,
    "IntStorage": torch.int32,
    "ShortStorage": torch.int16,
    "CharStorage": torch.int8,
    "ByteStorage": torch.uint8,
    "BoolStorage": torch.bool,
}
_LISTS = ("build_intlist", "build_doublelist", "build_boollist", "build_tensorlist")
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_CODE_READ = 2**24


def is_torchscript(path: Path) -> bool:
    """Whether a file is a TorchScript archive: a zip with a module tree and code."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return any(re.fullmatch(r"[^/]+/constants\.pkl", name) for name in archive.namelist())


def read_torchscript(path: Path) -> dict[str, Tensor]:
    """Return the parameters and buffers of the archived module by their names, mapped from the file and not copied.

    Nothing of the file is run.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            root = _archive_name(archive)
            storages = _Storages(path, archive, f"{root}/data/")
            with archive.open(f"{root}/data.pkl") as file:
                tree = _TreeReader(file, storages).load()
            return dict(_tensors(tree))
    except OpenworldError:
        raise
    except Exception as error:  # a damaged zip or pickle may raise nearly anything
        raise OpenworldError(
            f"{path} is not a TorchScript archive of tensors ({type(error).__name__}: {error}). Nothing of it was "
            "run; fetch it again."
        ) from error


def read_activation(path: Path) -> str:
    """The activation of the archived module by the text of its code, which is searched and not compiled.

    Returns "quick_gelu" (x times a sigmoid: all that OpenAI published) or "gelu".
    Raises OpenworldError where the text has neither, or both.
    """
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if re.fullmatch(r"[^/]+/code/.*\.py", name)]
        texts = [archive.open(name).read(_CODE_READ).decode("utf-8", "replace") for name in names]
    activations = {
        activation
        for activation, call in (("quick_gelu", r"\bsigmoid\("), ("gelu", r"\bgelu\("))
        if any(re.search(call, text) for text in texts)
    }
    if len(activations) != 1:
        raise OpenworldError(
            f"{path} does not show whether its activation is GELU or QuickGELU; give the model in the layout of "
            "Hugging Face or open_clip, whose configuration says so."
        )
    return activations.pop()


class _Module:
    """A module of the tree: its attributes, nothing to call."""

    def __setstate__(self, state):
        self.attributes = dict(state)


class _Storages:
    """The tensors' data by key: slices of the file as it is mapped into memory."""

    def __init__(self, path: Path, archive: zipfile.ZipFile, folder: str):
        self.path, self.archive, self.folder = path, archive, folder
        self.bytes = torch.UntypedStorage.from_file(str(path), False, path.stat().st_size)

    def __getitem__(self, key: str) -> torch.UntypedStorage:
        entry = self.archive.getinfo(self.folder + key)
        if entry.compress_type != zipfile.ZIP_STORED:
            raise ValueError(f"{entry.filename} is compressed")
        with self.path.open("rb") as file:
            file.seek(entry.header_offset)
            signature, name, extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
        start = entry.header_offset + _LOCAL_HEADER.size + name + extra
        if signature != b"PK\x03\x04" or start + entry.file_size > len(self.bytes):
            raise ValueError(f"{entry.filename} is cut off")
        return self.bytes[start : start + entry.file_size]


class _TreeReader(pickle.Unpickler):
    """Unpickles a module tree; refuses every name that is not listed here."""

    def __init__(self, file, storages: _Storages):
        super().__init__(file)
        self.storages = storages

    def find_class(self, module: str, name: str):
        if module == "__torch__" or module.startswith("__torch__."):
            return _Module
        if module == "torch" and name in _TYPES:
            return _TYPES[name]
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _tensor
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module == "torch.jit._pickle" and name in _LISTS:
            return list
        raise OpenworldError(
            f"{self.storages.path} wants {module}.{name}, which is no tensor; nothing of it was run. Fetch the file "
            "again from where it was published."
        )

    def persistent_load(self, identity: tuple) -> tuple[torch.UntypedStorage, torch.dtype]:
        _, dtype, key, _, _ = identity
        return self.storages[key], dtype


def _tensor(storage, offset: int, size: tuple, stride: tuple, *_) -> Tensor:
    """A view of a storage; torch refuses one that would reach beyond it."""
    data, dtype = storage
    return torch.empty(0, dtype=dtype).set_(data, offset, size, stride)


def _archive_name(archive: zipfile.ZipFile) -> str:
    roots = [name.split("/")[0] for name in archive.namelist() if re.fullmatch(r"[^/]+/data\.pkl", name)]
    if len(roots) != 1:
        raise ValueError("it holds no data.pkl")
    return roots[0]


def _tensors(tree: _Module):
    """(name, tensor) of every parameter and buffer below a module, each module once."""
    known, waiting = set(), [("", tree)]
    while waiting:
        prefix, module = waiting.pop()
        if id(module) in known:
            continue
        known.add(id(module))
        for name, value in module.attributes.items():
            if isinstance(value, Tensor):
                yield prefix + name, value
            elif isinstance(value, _Module):
                waiting.append((f"{prefix}{name}.", value))
