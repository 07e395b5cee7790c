"""Tensors by name from the files that hold weights, mapped from disk where the format allows it.

Read are safetensors, whole or in shards, and PyTorch's own format with `weights_only`: torch then unpickles tensors and
plain containers and refuses everything else before it is called.
"""

import json
import logging
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from openworld._errors import OpenworldError
from openworld._plain import read_plain

_log = logging.getLogger(__name__)


def read_weights(files: Sequence[Path]) -> dict[str, Tensor]:
    """Return all tensors of a file, or of the shards behind the index (.json) that comes first."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    first = files[0]
    shards = _shards(first) if first.suffix == ".json" else [first]
    weights = {}
    for path in shards:
        try:
            weights |= load_file(path) if path.suffix == ".safetensors" else read_pickled(path)
        except (SafetensorError, RuntimeError) as error:
            reason = str(error).splitlines()[0]
            raise OpenworldError(f"{path} is not a complete safetensors file ({reason}); fetch it again.") from error
    if shards[0].suffix != ".safetensors":
        _log.warning("%s is pickled: tensors alone were read of it (weights_only), nothing of it was run.", first)
    return weights


def read_pickled(path: Path) -> dict[str, Tensor]:
    """Return the tensors of `torch.save`'s file: a state dict, or one within as "state_dict" or "model"."""
    import pickle

    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            if any(name.endswith("/constants.pkl") for name in archive.namelist()):
                raise OpenworldError(
                    f"{path} is TorchScript, which is not read; of OpenAI's models give the name (ViT-B/16), which "
                    "fetches the same weights from the hub, of others torch.jit.load(FILE).state_dict() as safetensors."
                )
    try:  # files older than PyTorch 1.6 are no zip and cannot be mapped
        held = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except (pickle.UnpicklingError, EOFError, RuntimeError, ValueError, LookupError, zipfile.BadZipFile) as error:
        # What torch says would have people switch its protection off.
        raise OpenworldError(
            f"{path} is not a weights-only PyTorch file: it holds something else than tensors, or is damaged. "
            "Nothing of it was run; fetch it again, or take the weights as safetensors."
        ) from error
    for key in ("state_dict", "model"):
        held = held[key] if isinstance(held, Mapping) and isinstance(held.get(key), Mapping) else held
    if not isinstance(held, Mapping) or not all(isinstance(tensor, Tensor) for tensor in held.values()):
        raise OpenworldError(f"{path} holds no tensors by name; give the weights of a model, a state dict.")
    # Models trained on several GPUs carry the name of the wrapper.
    wrapped = bool(held) and all(name.startswith("module.") for name in held)
    return {name.removeprefix("module.") if wrapped else name: tensor for name, tensor in held.items()}


def _shards(index: Path) -> list[Path]:
    """The files that an index lists, all of them there."""
    try:
        names = sorted(set(json.loads(read_plain(index))["weight_map"].values()))
        paths = [index.parent / name for name in names if Path(name).name == name]
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError) as error:
        raise OpenworldError(f"{index} does not list the shards of a model ({error}); fetch it again.") from error
    missing = [path.name for path in paths if not path.is_file()]
    if missing or not paths or len(paths) < len(names):
        listed = ", ".join(missing or names) or "nothing"
        raise OpenworldError(f"{index} lists shards that are not beside it: {listed}; fetch them, too.")
    return paths
