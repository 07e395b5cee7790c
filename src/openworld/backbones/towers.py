"""The image tower and the text tower, with the pooling and projection of CLIP and of SigLIP.

Both are embedding + `run_blocks` + pooling. Their state is named by role (`blocks.3.qkv.weight`), not after any one
checkpoint; `layouts` translates. Freshly built towers carry CLIP's random initialisation and can be trained.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from openworld.backbones.blocks import (
    Attend,
    Block,
    Edit,
    attend_all,
    attend_earlier,
    attend_own_value,
    run_blocks,
    select_rows,
)
from openworld.backbones.config import ImageConfig, TextConfig
from openworld.core.errors import OpenworldError


class ImageTower(nn.Module):
    """Vision transformer (Dosovitskiy et al., 2021) as CLIP and SigLIP use it: pixels to joint embeddings."""

    blocks: Any  # a list of modules that are all `Block`, of which slices are such lists

    def __init__(self, config: ImageConfig, joint_dimension: int):
        super().__init__()
        width, size = config.width, config.patch_size
        self.config = config
        self.patches = nn.Conv2d(3, width, kernel_size=size, stride=size, bias=config.patch_bias)
        self.class_row = nn.Parameter(torch.empty(width)) if config.class_token else None
        self.positions = nn.Parameter(torch.empty(config.grid**2 + config.class_token, width))
        self.norm_in = nn.LayerNorm(width, eps=config.norm_epsilon) if config.pre_norm else nn.Identity()
        self.blocks = nn.ModuleList(_block(config) for _ in range(config.layers))
        self.norm_out = nn.LayerNorm(width, eps=config.norm_epsilon)
        pools_by_attention = config.pool == "attention"
        self.pool = AttentionPool(config) if pools_by_attention else None
        self.projection: Any = nn.Identity() if pools_by_attention else nn.Linear(width, joint_dimension, bias=False)
        self.initialise()

    def forward(self, pixels: Tensor, keep: Tensor | None = None, edit: Edit | None = None) -> Tensor:
        """Pixels float[B,3,H,W] to unnormalised joint embeddings float[B,D], of the patches `keep` int64[B,K]."""
        # Rows that an `edit` sees are class token, patches, then whatever the edit has added.
        rows = self.embed(pixels, keep)
        if self.pool is None:
            first = torch.zeros(1, dtype=torch.int64, device=rows.device)
            return self.finish(run_blocks(self.blocks, rows, attend_all, edit=edit, keep=first)[:, 0])
        return self.finish(run_blocks(self.blocks, rows, attend_all, edit=edit))

    def embed(self, pixels: Tensor, keep: Tensor | None = None) -> Tensor:
        """Pixels float[B,3,H,W] to the rows [B, 1 + P, W] that enter the first block (no class row in SigLIP)."""
        rows = self.patches(pixels).flatten(2).transpose(1, 2)
        first = int(self.config.class_token)
        rows = rows + self.positions[first:]
        if keep is not None:
            rows = select_rows(rows, keep)
        if self.class_row is not None:
            row = (self.class_row + self.positions[0]).expand(len(rows), 1, -1)
            rows = torch.cat([row, rows], dim=1)
        return self.norm_in(rows)

    def finish(self, rows: Tensor) -> Tensor:
        """What follows the blocks: class rows [...,W] (or, in SigLIP, all rows [B,P,W]) to joint embeddings."""
        rows = self.norm_out(rows)
        return self.projection(rows) if self.pool is None else self.pool(rows)

    def forward_patches(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Return joint embeddings float[B,D], and patch rows float[B,P,W] before the joint projection."""
        # Patch rows take the last block's value path: value projection, output projection, residual and MLP, without
        # mixing across rows, then the final norm (LoCoOp, Miyai et al., 2023; GalLoP, Lafon et al., 2024).
        rows = run_blocks(self.blocks[:-1], self.embed(pixels), attend_all)
        first = torch.zeros(1, dtype=torch.int64, device=rows.device)
        pooled = run_blocks(self.blocks[-1:], rows, attend_all, keep=first)[:, 0]
        patches = run_blocks(self.blocks[-1:], rows[:, 1:], attend_own_value)
        return self.finish(pooled), self.norm_out(patches)

    @torch.no_grad()
    def initialise(self) -> None:
        """CLIP's random initialisation: everything scaled by the width, residual outputs also by the depth."""
        scale = self.config.width**-0.5
        nn.init.normal_(self.positions, std=scale)
        if self.class_row is not None:
            nn.init.normal_(self.class_row, std=scale)
        _initialise_blocks(self.blocks, self.config.width)
        if self.pool is None:
            nn.init.normal_(self.projection.weight, std=scale)


class TextTower(nn.Module):
    """Transformer over token ids as CLIP (causal, pooled at the end token) and SigLIP (bidirectional) use it."""

    blocks: Any  # as the image tower's

    def __init__(self, config: TextConfig, joint_dimension: int):
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocabulary, config.width)
        self.positions = nn.Parameter(torch.empty(config.positions, config.width))
        self.blocks = nn.ModuleList(_block(config) for _ in range(config.layers))
        self.norm_out = nn.LayerNorm(config.width, eps=config.norm_epsilon)
        self.projection = nn.Linear(config.width, joint_dimension, bias=config.projection_bias)
        self.initialise()

    def forward(self, tokens: Tensor) -> Tensor:
        """Token ids int64[C,T], padded behind the end token, to unnormalised embeddings float[C,D]."""
        # Causal towers may be given fewer columns than `positions`: rows after the end token are never seen.
        rows = self.tokens(tokens) + self.positions[: tokens.shape[1]]
        rows = run_blocks(self.blocks, rows, self.attend)
        return self.finish(rows[torch.arange(len(rows), device=rows.device), self.pooled_position(tokens)])

    @property
    def attend(self) -> Attend:
        """Who sees whom in this tower when rows are whole sentences [C,T,W]."""
        return attend_earlier if self.config.causal else attend_all

    def pooled_position(self, tokens: Tensor) -> Tensor:
        """The pooled position int64[C] of each sentence in int64[C,T]: its (first) end token, or the last one."""
        if self.config.pool == "last":
            return torch.full((len(tokens),), tokens.shape[1] - 1, device=tokens.device)
        if self.config.end_token is None:
            return tokens.argmax(dim=1)
        return (tokens == self.config.end_token).int().argmax(dim=1)

    def finish(self, rows: Tensor) -> Tensor:
        """What follows the blocks: pooled rows [...,W] to joint embeddings [...,D]."""
        return self.projection(self.norm_out(rows))

    @torch.no_grad()
    def initialise(self) -> None:
        """CLIP's random initialisation."""
        nn.init.normal_(self.tokens.weight, std=0.02)
        nn.init.normal_(self.positions, std=0.01)
        _initialise_blocks(self.blocks, self.config.width)
        nn.init.normal_(self.projection.weight, std=self.config.width**-0.5)


class AttentionPool(nn.Module):
    """SigLIP's map head: one learned query attends over all rows, then a residual MLP (Zhai et al., 2022)."""

    def __init__(self, config: ImageConfig):
        super().__init__()
        self.query = nn.Parameter(torch.randn(config.width) * config.width**-0.5)
        self.block: Any = _block(config)
        # The block's first norm has no counterpart in the map head: the rows arrive normed already.
        self.block.norm_1 = nn.Identity()

    def forward(self, rows: Tensor) -> Tensor:
        """Rows float[B,P,W] to pooled rows float[B,W]."""
        block, width = self.block, rows.shape[-1]
        query = nn.functional.linear(self.query, block.qkv.weight[:width], block.qkv.bias[:width])
        _, key, value = block.project(rows)
        pooled = block.out(attend_all(0, block, query.expand(len(rows), 1, -1), key, value))
        return (pooled + block.mlp(block.norm_2(pooled)))[:, 0]


def _block(config: ImageConfig | TextConfig) -> Block:
    return Block(config.width, config.heads, config.mlp_width, config.activation, config.norm_epsilon)


def _initialise_blocks(blocks: Sequence[Block], width: int) -> None:
    residual = width**-0.5 * (2 * len(blocks)) ** -0.5
    for block in blocks:
        nn.init.normal_(block.qkv.weight, std=width**-0.5)
        nn.init.normal_(block.out.weight, std=residual)
        nn.init.normal_(block.up.weight, std=(2 * width) ** -0.5)
        nn.init.normal_(block.down.weight, std=residual)
        for layer in (block.qkv, block.out, block.up, block.down):
            nn.init.zeros_(layer.bias)


def insert_prompts(tower: ImageTower, prompts: Mapping[int, Tensor]) -> Edit:
    """Return the `edit` of `run_blocks` that puts prompts float[N, W] at the inputs of their blocks.

    These are visual prompts, shallow or deep (Jia et al., 2022). The rows of block 0 are appended behind class token
    and patches, without positions, and pass the tower's first norm with them; those of a later block take the place of
    the last rows at its input. Blocks without rows of their own let the previous ones flow on. Attention has no order,
    so behind the patches equals in front of them.
    """
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


class Unfilled(TorchFunctionMode):
    """Leaves new weights unfilled: no random number is drawn, and no memory touched, for what a file will fill."""

    # PyTorch's "meta" device does that, too, but imports its compiler for it, more than a second in every process.
    DRAWING = ("normal_", "uniform_", "kaiming_uniform_")

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if getattr(func, "__name__", "") in self.DRAWING:
            return args[0] if args else (kwargs or {})["tensor"]
        return func(*args, **(kwargs or {}))
