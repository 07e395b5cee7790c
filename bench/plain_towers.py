"""Full passes through both towers, as the released codes run them: nothing shared between sentences, nothing cached.

Every sentence has all its 77 rows in every block, every image all its rows, and a pooled row is taken at the very end.
Attention is PyTorch's `scaled_dot_product_attention`. The passes count their multiply-adds on the way, and those of the
same features with every exact shortcut.
"""

from collections.abc import Mapping, Sequence

import torch
from multiply_adds import full_image, full_text, packed_text, pooled_image, reading, recorded_image
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

from openworld.backbones.blocks import attend_all, attend_earlier, attend_own_value, join_heads, split_heads
from openworld.backbones.prompts import common_prefix, pad_tokens


class PlainTowers:
    """Plain passes of one CLIP.

    keep: sentences whose intermediate results may wait for the backward pass; those beyond it are encoded in chunks of
    that size, each run again in the backward pass (gradient checkpointing). dry: count only, and return noise.
    backwards: backward passes of a step.
    full, short: multiply-adds so far of these passes, and of the same with every exact shortcut.
    """

    def __init__(self, clip, keep: int, dry: bool = False):
        self.clip, self.keep, self.dry = clip, keep, dry
        self.kept = self.full = self.short = 0
        self.backwards = 1

    def text(
        self,
        sentences: Sequence[Sequence[int]],
        context: Tensor,
        *,
        deep: Mapping[int, Tensor] | None = None,
        per_class: Mapping[int, Tensor] | None = None,
        places: Sequence[Sequence[int]] | None = None,
    ) -> Tensor:
        """Unnormalised features [C, D] of token ids, with context [N, W] at positions 1..N (or at `places`, N for each
        sentence). deep: block -> [N, W] that replaces positions 1..N at its input; per_class: block -> [C, N, W]."""
        length = len(context)
        changes = {**(deep or {}), **(per_class or {})}
        self._count_text(sentences, min(per_class) if per_class else None)
        if self.dry:
            return self._noise(len(sentences), self.clip.config.joint_dimension)
        places = torch.tensor(places or [range(1, 1 + length)] * len(sentences), device=self.clip.device)

        def run(span: slice) -> Tensor:
            rows, ends = self._embed(sentences[span])
            where = places[span][..., None].expand(-1, -1, rows.shape[-1])
            rows = rows.scatter(1, where, context.to(rows.dtype).expand(len(rows), -1, -1))
            new = {index: one[span] if one.dim() == 3 else one for index, one in changes.items()}
            return self._run_text(rows, ends, new)

        return self._in_chunks(run, len(sentences))

    def read_only_text(self, sentences: Sequence[Sequence[int]], prompts: Tensor) -> Tensor:
        """Features [C, K, D] of K prompts behind the end token that see the sentence and are seen by nobody (RPO)."""
        config, count = self.clip.config.text, len(prompts)
        self.full += full_text(config, len(sentences), config.positions, causal=False).total(self.backwards)
        self.short += reading(config, count, [len(sentence) for sentence in sentences]).total(self.backwards)
        if self.dry:
            return self._noise(len(sentences), count, self.clip.config.joint_dimension)

        def run(span: slice) -> Tensor:
            rows, ends = self._embed(sentences[span])
            rows = rows + self.clip.text.positions
            own = ends[:, None] + 1 + torch.arange(count, device=rows.device)
            where = own[..., None].expand(-1, -1, rows.shape[-1])
            rows = rows.scatter(1, where, prompts.to(rows.dtype).expand(len(rows), -1, -1))
            earlier = torch.ones(rows.shape[1], rows.shape[1], dtype=torch.bool, device=rows.device).tril()
            seen = torch.arange(rows.shape[1], device=rows.device) <= ends[:, None]
            attend = _masked((earlier & seen[:, None])[:, None])
            for index, block in enumerate(self.clip.text.blocks):
                rows = block(index, rows, attend)
            return _wide(self.clip.text.finish(rows.gather(1, where)))

        return self._in_chunks(run, len(sentences))

    def image(self, pixels: Tensor, prompts: Mapping[int, Tensor] | None = None) -> Tensor:
        """Unnormalised embeddings [B, D]; prompts: block -> [N, W], appended at block 0, replacing the last N rows at
        later ones. Without prompts no gradient flows, and a shortcut is to have the embeddings beforehand."""
        config, prompts = self.clip.config.image, prompts or {}
        count = len(prompts[0]) if prompts else 0
        self.full += full_image(config, len(pixels), count).total(self.backwards if prompts else 0)
        if prompts:
            self.short += pooled_image(config, len(pixels), count).total(self.backwards)
        if self.dry:
            return self._noise(len(pixels), self.clip.config.joint_dimension)
        rows = self.clip.image.embed(pixels)
        for index, block in enumerate(self.clip.image.blocks):
            if index in prompts:
                new = prompts[index].to(rows.dtype)
                new = (new if index else self.clip.image.norm_in(new)).expand(len(rows), -1, -1)
                rows = torch.cat([rows[:, : -count if index else None], new], dim=1)
            rows = block(index, rows, attend_all)
        return _wide(self.clip.image.finish(rows[:, 0]))

    def patches(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Unnormalised embeddings [B, D], and patch rows [B, P, W] before the projection, by the last block's value
        path; no gradient, so that a shortcut is to have both beforehand."""
        config = self.clip.config.image
        self.full += full_image(config, len(pixels)).total()
        if self.dry:
            patches = self._noise(len(pixels), config.grid**2, config.width)
            return self._noise(len(pixels), self.clip.config.joint_dimension), patches
        tower, rows = self.clip.image, self.clip.image.embed(pixels)
        for index, block in enumerate(tower.blocks[:-1]):
            rows = block(index, rows, attend_all)
        last = tower.blocks[-1]
        patches = tower.norm_out(last(0, rows, attend_own_value))[:, 1:]
        return _wide(tower.finish(last(0, rows, attend_all)[:, 0])), _wide(patches)

    def read_only_image(self, pixels: Tensor, prompts: Tensor) -> Tensor:
        """Features [B, K, D] of K prompts that see class token and patches and are seen by nobody (RPO)."""
        config, count = self.clip.config.image, len(prompts)
        rows_seen = 1 + config.grid**2
        self.full += full_image(config, len(pixels), count).total(self.backwards)
        self.short += recorded_image(config, len(pixels)).total()
        self.short += reading(config, count, [rows_seen] * len(pixels)).total(self.backwards)
        if self.dry:
            return self._noise(len(pixels), count, self.clip.config.joint_dimension)
        tower, rows = self.clip.image, self.clip.image.embed(pixels)
        new = tower.norm_in(prompts.to(rows.dtype)).expand(len(rows), -1, -1)
        rows = torch.cat([rows, new], dim=1)
        seen = torch.arange(rows.shape[1], device=rows.device) < rows_seen
        attend = _masked(seen.expand(len(seen), -1))
        for index, block in enumerate(tower.blocks):
            rows = block(index, rows, attend)
        return _wide(tower.finish(rows[:, rows_seen:]))

    def _embed(self, sentences: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        tokens = pad_tokens(sentences, self.clip.config.text.positions).to(self.clip.device)
        return self.clip.text.tokens(tokens), tokens.argmax(dim=1)

    def _run_text(self, rows: Tensor, ends: Tensor, changes: Mapping[int, Tensor]) -> Tensor:
        rows = rows + self.clip.text.positions
        for index, block in enumerate(self.clip.text.blocks):
            if index in changes:
                new = changes[index].to(rows.dtype)
                rows = torch.cat([rows[:, :1], new.expand(len(rows), -1, -1), rows[:, 1 + new.shape[-2] :]], dim=1)
            rows = block(index, rows, attend_earlier)
        return _wide(self.clip.text.finish(rows[torch.arange(len(rows), device=rows.device), ends]))

    def _in_chunks(self, run, count: int) -> Tensor:
        self.kept += count
        if self.kept <= self.keep:
            return run(slice(0, count))
        spans = [slice(first, first + self.keep) for first in range(0, count, self.keep)]
        return torch.cat([checkpoint(run, span, use_reentrant=False) for span in spans])

    def _count_text(self, sentences: Sequence[Sequence[int]], unshared_from: int | None) -> None:
        config, shared = self.clip.config.text, common_prefix(sentences)
        own = [len(sentence) - 1 - shared for sentence in sentences]
        self.full += full_text(config, len(sentences), config.positions).total(self.backwards)
        self.short += packed_text(config, own, shared, unshared_from).total(self.backwards)

    def _noise(self, *shape: int) -> Tensor:
        wide = torch.promote_types(self.clip.dtype, torch.float32)
        return torch.randn(*shape, device=self.clip.device, dtype=wide)


def _masked(mask: Tensor):
    """Every row sees what the mask says."""

    def attend(index, block, query, key, value):
        query, key, value = (split_heads(rows, block.heads) for rows in (query, key, value))
        return join_heads(scaled_dot_product_attention(query, key, value, attn_mask=mask))

    return attend


def _wide(tensor: Tensor) -> Tensor:
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))
