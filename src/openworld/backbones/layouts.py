"""Weights of published checkpoints: tensors by name from files, and which of them make up which of ours.

Read are safetensors, whole or in shards, mapped from disk, and PyTorch's own format with `weights_only`: torch then
unpickles tensors and plain containers and refuses everything else before it is called. Layouts are `hugging_face`
(CLIPModel), `hugging_face_siglip` (SiglipModel), and `openai` (OpenAI's state dict, which open_clip shares); the tables
are in checkpoints.toml.
"""

import json
import logging
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import facts, read_plain

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


_LAYOUTS: dict[str, dict[str, list[str]]] = facts("openworld.backbones", "checkpoints.toml")["layouts"]
LAYOUTS = _LAYOUTS | {"hugging_face_siglip": _LAYOUTS["hugging_face"] | _LAYOUTS["hugging_face_siglip"]}
"""Layout -> our name of a tensor -> the names there, as checkpoints.toml says it."""

_QUERY = "vision_model.head.probe"
# Stored as x @ W where a Linear keeps W transposed.
TRANSPOSED = ("visual.proj", "text_projection")
# Constants that older checkpoints carry along, no weights.
IGNORED = re.compile(r".*position_ids|attn_mask|input_resolution|context_length|vocab_size")


def source_names(ours: str, layout: str) -> tuple[str, ...]:
    """Return the names in `layout` of the tensor we call `ours`; empty where that layout has none."""
    number = re.search(r"\.blocks\.(\d+)\.", ours)
    pattern = re.sub(r"\.blocks\.\d+\.", ".blocks.#.", ours)
    leaf = pattern.rpartition(".")[2]
    if leaf in ("weight", "bias"):
        pattern = pattern.removesuffix(leaf) + "@"
    names = LAYOUTS[layout].get(pattern, ())
    return tuple(name.replace("#", number[1] if number else "").replace("@", leaf) for name in names)


@torch.no_grad()
def load_state(model: nn.Module, tensors: Mapping[str, Tensor], layout: str, where: str) -> None:
    """Copy a checkpoint's tensors into a `TwoTower`: each has to be there and fit, and none is left over."""
    expected = {ours: source_names(ours, layout) for ours in model.state_dict()}
    used = {name for names in expected.values() for name in names}
    _refuse(where, "lacks", [name for names in expected.values() for name in names if name not in tensors])
    left_over = [name for name in tensors if name not in used and not IGNORED.fullmatch(name)]
    _refuse(where, "has, beyond what its configuration describes,", left_over)
    for ours, target in model.state_dict().items():
        names = expected[ours]
        if not names:
            continue
        whole = torch.cat([tensors[name] for name in names]) if len(names) > 1 else tensors[names[0]]
        whole = whole.t() if names[0] in TRANSPOSED else whole
        # SigLIP stores its scale, bias and pooling query with leading axes of length one.
        squeezed = whole.numel() == target.numel() and whole.squeeze().shape == target.shape
        if whole.shape != target.shape and not squeezed:
            raise OpenworldError(
                f"{where}: {' + '.join(names)} has shape {list(whole.shape)} where its configuration asks for "
                f"{list(target.shape)}; the weights and the configuration are not of one model."
            )
        require_finite({name: tensors[name] for name in names}, where)
        target.copy_(whole.reshape(target.shape))


@torch.no_grad()
def export_state(model: nn.Module, layout: str) -> dict[str, Tensor]:
    """A `TwoTower`'s tensors under the names of `layout`: the inverse of `load_state`, for saving checkpoints."""
    state = {}
    for ours, tensor in model.state_dict().items():
        names = source_names(ours, layout)
        parts = tensor.chunk(len(names)) if len(names) > 1 else [tensor] * len(names)
        for name, part in zip(names, parts, strict=True):
            shaped = part.t() if layout == "openai" and name in TRANSPOSED else part
            shaped = shaped.view(1, 1, -1) if name == _QUERY else shaped
            state[name] = shaped.contiguous().clone()
    return state


def require_finite(tensors: Mapping[str, Tensor], where: str) -> None:
    """Refuse weights that are no numbers: everything computed with them would be none either."""
    for name, tensor in tensors.items():
        # Both ends are NaN if any number is; 80 times as fast as looking at each.
        if tensor.numel() and not all(end.isfinite() for end in tensor.aminmax()):
            raise OpenworldError(f"{where}: {name} holds NaN or infinite numbers; fetch or make the file again.")


def _refuse(where: str, fault: str, names: Iterable[str]) -> None:
    names = sorted(names)
    if names:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        raise OpenworldError(
            f"{where} {fault} the weights {', '.join(names[:3])}{more}; it is not the model its configuration says."
        )
