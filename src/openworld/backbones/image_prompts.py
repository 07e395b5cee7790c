"""Learned rows among the patches of an image: visual prompts, shallow or deep (Jia et al., 2022).

The rows of block 0 are appended behind class token and patches, without positions, and pass the tower's first norm with
them; those of a later block take the place of the last rows at its input. Blocks without rows of their own let the
previous ones flow on. Attention has no order, so behind the patches equals in front of them.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from openworld._errors import OpenworldError
from openworld.backbones.blocks import Edit
from openworld.backbones.towers import ImageTower


def insert_prompts(tower: ImageTower, prompts: Mapping[int, Tensor]) -> Edit:
    """Return the `edit` of `run_blocks` that puts prompts float[N, W] at the inputs of their blocks."""
    require_class_token(tower, "image prompts need")
    layers, width = tower.config.layers, tower.config.width
    unknown = sorted(index for index in prompts if index not in range(layers))
    if unknown or 0 not in prompts:
        raise OpenworldError(
            f"image prompts are given for blocks {sorted(prompts)}; this tower has blocks 0 to {layers - 1}, and "
            "block 0 needs them, because later ones take the place of its rows."
        )
    shapes = {index: list(rows.shape) for index, rows in prompts.items()}
    if len(shapes[0]) != 2 or not shapes[0][0] or any(shape != [shapes[0][0], width] for shape in shapes.values()):
        raise OpenworldError(
            f"expected image prompts of one shape [N, {width}] with N at least 1 at every block, got {shapes}."
        )
    count = len(prompts[0])

    def edit(index: int, rows: Tensor) -> Tensor:
        if index not in prompts:
            return rows
        new = prompts[index] if index else tower.norm_in(prompts[0])
        old = rows[:, :-count] if index else rows
        return torch.cat([old, new.expand(len(rows), -1, -1)], dim=1)

    return edit


def require_class_token(tower: ImageTower, what: str) -> None:
    """Refuse towers that pool their patches by attention; `what` is subject and verb of the refusal."""
    if not tower.config.class_token:
        raise OpenworldError(f"{what} an image tower with a class token (CLIP); this one pools by attention (SigLIP).")
