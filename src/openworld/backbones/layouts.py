"""Which tensors of a checkpoint make up which of ours, for the layouts in which weights are published.

`hugging_face` (CLIPModel), `hugging_face_siglip` (SiglipModel), and `openai` (OpenAI's state dict, which open_clip
shares); the tables are in checkpoints.toml.
"""

import re
from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from openworld._errors import OpenworldError
from openworld._plain import facts

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
