"""The two-tower model users hold: pixels and text in, unnormalised joint embeddings out."""

import copy
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor, nn

from openworld.backbones import partial_passes
from openworld.backbones import prompts as text_passes
from openworld.backbones.blocks import attend_all, run_blocks
from openworld.backbones.config import TwoTowerConfig
from openworld.backbones.partial_passes import EnteredText, PackedText, Recording
from openworld.backbones.preprocess import Preprocess
from openworld.backbones.prompts import CHUNK, PromptedNames, pad_tokens, require_causal
from openworld.backbones.towers import ImageTower, TextTower, insert_prompts, require_class_token
from openworld.core.errors import OpenworldError


class TwoTower(nn.Module):
    """CLIP or SigLIP: an image tower, a text tower, a logit scale and a logit bias.

    Built directly it is random and trainable; `load` returns it with published weights, frozen, in evaluation mode,
    with its tokenizer and preprocessing attached. Logits are logit_scale * cosine + logit_bias.
    """

    def __init__(
        self,
        config: TwoTowerConfig,
        *,
        tokenizer: Any = None,
        preprocess: Preprocess | None = None,
        name: str = "unnamed",
    ) -> None:
        super().__init__()
        self.config = config
        self.name = name
        self.tokenizer = tokenizer
        self.preprocess: Preprocess | Any = preprocess
        self.image = ImageTower(config.image, config.joint_dimension)
        self.text = TextTower(config.text, config.joint_dimension)
        self.log_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))
        self.logit_bias = nn.Parameter(torch.zeros(()), requires_grad=config.family == "siglip")
        self._fingerprint = None

    @property
    def logit_scale(self) -> Tensor:
        """What cosines are multiplied by, 0-d: exp of the stored parameter (about 100 for OpenAI's CLIP)."""
        return self.log_scale.exp()

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.text.positions.device

    @property
    def dtype(self) -> torch.dtype:
        """The floating type of the weights; pixels and contexts must come in it."""
        return self.text.positions.dtype

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of configuration and weights as they are in memory; computed once, so only for frozen models.

        float32 and float16 copies differ, as do the features they give. Device and name play no part.
        """
        if self._fingerprint is None:
            description = json.dumps(asdict(self.config), sort_keys=True)
            self._fingerprint = hash_weights(description, self.state_dict())
        return self._fingerprint

    @property
    def preprocess_fingerprint(self) -> str:
        """SHA-256 (hex) of the preprocessing's settings."""
        return hashlib.sha256(json.dumps(asdict(self.preprocess), sort_keys=True).encode()).hexdigest()

    def encode_image(self, pixels: Tensor, prompts: Mapping[int, Tensor] | None = None) -> Tensor:
        """Pixels float[B,3,H,W], as `preprocess` gives them, to unnormalised joint embeddings float[B,D].

        prompts: block index -> [N,W], learned rows beside the patches (VPT, Jia et al., 2022): those of block 0 are
        appended, without positions; those of a later block take the place of the last N rows at its input. The
        result is differentiable with respect to them.
        Raises OpenworldError when the image size is not the model's, for prompts of other shapes or blocks, and for
        prompts in a model without a class token (SigLIP).
        """
        self._check_pixels(pixels)
        return self.image(pixels, edit=None if prompts is None else insert_prompts(self.image, prompts))

    def encode_patches(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Global embeddings float[B,D], unnormalised, and patch rows float[B,P,W] of pixels float[B,3,H,W].

        Patches go through the last block's value path and the final norm, not through the joint projection, which is
        `project_patches` (LoCoOp, Miyai et al., 2023, section 3; GalLoP, Lafon et al., 2024, learns before it).
        Raises OpenworldError for a model without a class token (SigLIP).
        """
        require_class_token(self.image, "patch rows need")
        self._check_pixels(pixels)
        return self.image.forward_patches(pixels)

    def project_patches(self, patches: Tensor) -> Tensor:
        """Patch rows float[...,W] of `encode_patches` to unnormalised joint embeddings float[...,D].

        Raises OpenworldError for rows of another width, and for a model without a class token (SigLIP).
        """
        require_class_token(self.image, "patch rows need")
        if patches.shape[-1] != self.config.image.width:
            raise OpenworldError(
                f"expected patch rows of width {self.config.image.width}, before the joint projection, "
                f"got {patches.shape[-1]}; `encode_patches` gives them."
            )
        return self.image.projection(patches)

    def encode_text(self, texts: Sequence[str]) -> Tensor:
        """C plain sentences to unnormalised joint embeddings float[C,D]; wrap in `torch.no_grad()` where frozen.

        Raises OpenworldError for an empty list and for a sentence longer than the model reads.
        """
        return text_passes.encode_sentences(self.text, self._tokenize(texts))

    def prompt_names(
        self,
        names: Sequence[str] | Sequence[Sequence[str]],
        context_length: int,
        suffix: str = ".",
        *,
        fixed: str = "",
        position: str = "end",
        keep_underscores: bool = False,
    ) -> PromptedNames:
        """Prepare class names for `encode_prompts`: "X X .. X name" + suffix with `context_length` placeholders.

        names: C class names, or G lists of C names, one for each of G contexts. suffix: what follows the name, often
        "." or ", a type of pet.". fixed: words that stay as they are between context and name ("of a").
        position: of the name: "end", behind the whole context; "middle", behind its first half (the smaller one);
        "front", before all of it. keep_underscores: leave "_" in names, as some published code does, instead of
        reading it as a space.
        Raises OpenworldError for a name that does not fit and for a model without a causal text tower.
        Source: CoOp (Zhou et al., 2022), section 3.2, unified context; KaiyangZhou/CoOp@ff61507 for the positions.
        """
        options: Any = {"fixed": fixed, "position": position, "keep_underscores": keep_underscores}
        return text_passes.prompt_names(self.text, self.tokenizer, names, context_length, suffix, **options)

    def encode_prompts(
        self,
        context: Tensor,
        prompts: PromptedNames,
        *,
        replace: Mapping[int, Tensor] | None = None,
        replace_per_class: Mapping[int, Tensor] | None = None,
    ) -> Tensor:
        """Embed every name with a context: float[C,D] for context [P,W], float[G,C,D] for [G,P,W]; unnormalised.

        context: word embeddings without positions; the result is differentiable with respect to it, and equal to a
        full pass over all positions up to the order of floating-point sums. G contexts cost one pass of G prefixes,
        over the same names or, where `prompts` has G lists, each over its own.
        replace: block index -> [n,W] or [G,n,W], rows put in place of positions 1..n at that block's input (deep
        prompts). replace_per_class: block index -> [C,n,W] or [G,C,n,W], the same, different for every name
        (class-aware prompts); n at most the context rows in front of the name.
        Many names or groups run in parts, so that memory stays bounded (`blocks.ROWS`).
        Raises OpenworldError for a context or rows of another shape, or a block that does not exist.
        """
        return text_passes.encode_prompts(self.text, context, prompts, replace, replace_per_class)

    def record_image(self, pixels: Tensor) -> Recording:
        """Keys and values of every block for pixels float[B,3,H,W], without gradient, for `read_image`.

        Raises OpenworldError when the image size is not the model's, and for a model without a class token (SigLIP).
        """
        require_class_token(self.image, "read-only prompts need")
        self._check_pixels(pixels)
        with torch.no_grad():
            return Recording(partial_passes.record(self.image.blocks, self.image.embed(pixels), attend_all))

    def record_text(self, texts: Sequence[str]) -> Recording:
        """Keys and values of every block for C plain sentences, without gradient, for `read_text`.

        Raises OpenworldError for an empty list, a sentence longer than the model reads, and a model without a causal
        text tower.
        """
        require_causal(self.text, "read-only prompts need")
        tower, sentences, parts = self.text, self._tokenize(texts), []
        tokens = pad_tokens(sentences).to(self.device)
        lengths = torch.tensor([len(sentence) for sentence in sentences], device=self.device)
        with torch.no_grad():
            for chunk in tokens.split(CHUNK):
                rows = tower.tokens(chunk) + tower.positions[: tokens.shape[1]]
                parts.append(partial_passes.record(tower.blocks, rows, tower.attend))
        memory: Any = tuple(tuple(map(torch.cat, zip(*block, strict=True))) for block in zip(*parts, strict=True))
        return Recording(memory, torch.arange(tokens.shape[1], device=self.device) < lengths[:, None])

    def read_image(self, prompts: Tensor, recording: Recording) -> Tensor:
        """Unnormalised joint embeddings float[B,K,D] of K learned rows [K,Wv] that only read recorded images.

        The rows have no positions, pass the tower's first norm, see class token and patches at every block, neither
        themselves nor each other, and nothing sees them (RPO, Lee et al., 2023, section 3). Differentiable with
        respect to the rows; equal to the masked pass over all rows. Raises OpenworldError for rows of another shape.
        """
        return self.image.finish(self._read(self.image, self.image.norm_in, prompts, recording))

    def read_text(self, prompts: Tensor, recording: Recording) -> Tensor:
        """Unnormalised joint embeddings float[C,K,D] of K learned rows [K,W] that only read recorded sentences.

        As `read_image`, for rows behind the end token. Raises OpenworldError for rows of another shape, and where the
        longest sentence leaves no room for K more positions.
        """
        longest = self.config.text.positions - recording.length
        if len(prompts) > longest:
            raise OpenworldError(
                f"{len(prompts)} read-only prompts stand behind a sentence of {recording.length} tokens, and this "
                f"model reads {self.config.text.positions} positions; use at most {max(longest, 0)} prompts, or "
                "shorter names."
            )
        return self.text.finish(self._read(self.text, nn.Identity(), prompts, recording))

    def _read(self, tower: Any, norm: nn.Module, prompts: Tensor, recording: Recording) -> Tensor:
        width = tower.config.width
        if prompts.dim() != 2 or not len(prompts) or prompts.shape[1] != width:
            raise OpenworldError(
                f"expected read-only prompts of shape [K, {width}] with K at least 1, got {list(prompts.shape)}."
            )
        return partial_passes.read(tower.blocks, norm(prompts), recording)

    def enter_image(self, pixels: Tensor, block: int) -> Tensor:
        """Rows float[B,1+P,W] of class token and patches where they enter a block, without gradient.

        Raises OpenworldError when the image size is not the model's, for a block that does not exist, and for a model
        without a class token (SigLIP).
        """
        self._check_pixels(pixels)
        require_class_token(self.image, partial_passes.NEEDED)
        partial_passes.require_block(block, len(self.image.blocks))
        with torch.no_grad():
            return run_blocks(self.image.blocks[:block], self.image.embed(pixels), attend_all)

    def leave_image(self, rows: Tensor, block: int, prompts: Mapping[int, Tensor] | None = None) -> Tensor:
        """Rows of `enter_image` through `block` and all later ones: float[B,1+N,W], the class token and N prompts.

        prompts: block index -> [N,W], learned rows: those of `block` are put beside the patches, those of a later one
        take their place at its input. Rows come back behind the last norm; `project_patches` takes them to the joint
        space. Differentiable with respect to the prompts. Raises OpenworldError for prompts of other shapes or blocks.
        """
        prompts, places = prompts or {}, rows.shape[1]
        if prompts:
            partial_passes.require_prompts(prompts, block, len(self.image.blocks))

        def edit(index: int, rows: Tensor) -> Tensor:
            if block + index not in prompts:
                return rows
            return torch.cat([rows[:, :places], prompts[block + index].expand(len(rows), -1, -1)], dim=1)

        # The last block computes the class token and the prompts, which stand behind the patches, alone.
        count = len(prompts[block]) if prompts else 0
        keep = torch.tensor([0, *range(places, places + count)], device=rows.device)
        return self.image.norm_out(run_blocks(self.image.blocks[block:], rows, attend_all, edit=edit, keep=keep))

    def enter_text(self, texts: Sequence[str], block: int) -> EnteredText:
        """Rows of C plain sentences where they enter a block, without gradient.

        Raises OpenworldError for an empty list, a sentence longer than the model reads, a block that does not exist,
        and a model without a causal text tower.
        """
        require_causal(self.text, partial_passes.NEEDED)
        partial_passes.require_block(block, len(self.text.blocks))
        tower, sentences = self.text, self._tokenize(texts)
        tokens = pad_tokens(sentences).to(self.device)
        with torch.no_grad():
            rows = tower.tokens(tokens) + tower.positions[: tokens.shape[1]]
            rows = run_blocks(tower.blocks[:block], rows, tower.attend)
        return EnteredText(rows, tuple(map(len, sentences)), text_passes.common_prefix(sentences), block)

    def leave_text(self, text: EnteredText | PackedText, prompts: Mapping[int, Tensor] | None = None) -> Tensor:
        """Sentences of `enter_text` through the remaining blocks: float[C,D], unnormalised.

        prompts: block index -> [N,W], learned rows: those of the block that the sentences enter are put behind the
        start token, without positions; those of a later one take their place. Differentiable with respect to them.
        `EnteredText.pack` does once what every pass with as many prompts shares.
        Raises OpenworldError for prompts of other shapes or blocks, or more or fewer than were packed for.
        """
        return partial_passes.leave_text(self.text, text, prompts)

    def with_weights(self, weights: Mapping[str, Tensor]) -> "TwoTower":
        """The same model with other tensors in the place of some weights; this one stays as it is.

        weights: name, as `named_parameters` gives it, -> tensor of the same shape, in any floating type. What the
        result computes is differentiable with respect to the tensors.
        Raises OpenworldError for a name that there is not, or another shape.
        """
        changed = with_weights(self, {name: tensor.to(self.dtype) for name, tensor in weights.items()})
        vars(changed)["_fingerprint"] = None
        return changed

    def embed_words(self, phrase: str) -> Tensor:
        """Token embeddings float[n,W] of a phrase, without start, end and positions: a first value for a context."""
        tokens = self.tokenizer([phrase])[0][1:-1]
        return self.text.tokens.weight[torch.tensor(tokens, dtype=torch.int64, device=self.device)].detach().clone()

    def _tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        if isinstance(texts, str) or not len(texts):
            raise OpenworldError(f"expected a list of at least one sentence, got {texts!r}.")
        return self.tokenizer(texts)

    def _check_pixels(self, pixels: Tensor) -> None:
        size = self.config.image.image_size
        if pixels.dim() != 4 or pixels.shape[1:] != (3, size, size):
            raise OpenworldError(
                f"expected pixels of shape [B, 3, {size}, {size}], got {list(pixels.shape)}; "
                "`preprocess` turns an image into them."
            )


def hash_weights(description: str, weights: Mapping[str, Tensor]) -> str:
    """SHA-256 (hex) of what a model is, in words, and of its weights by name, as they are in memory."""
    digest = hashlib.sha256(description.encode())
    for name, tensor in weights.items():
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


def with_weights(module: Any, weights: Mapping[str, Tensor], prefix: str = "") -> Any:
    """Return a module like `module` in which the named weights are other tensors; `module` stays as it is."""
    # Modules on the way to a replaced weight are made anew, all others are shared; a pass through the result is
    # differentiable with respect to the tensors.
    inside: dict[str, dict[str, Tensor]] = {}
    direct = {name: tensor for name, tensor in weights.items() if "." not in name}
    for name in weights.keys() - direct.keys():
        child, _, rest = name.partition(".")
        inside.setdefault(child, {})[rest] = weights[name]
    settable = {name for name, tensor in module._parameters.items() if tensor is not None} | module._modules.keys()
    unknown = sorted((direct.keys() | inside.keys()) - settable)
    if unknown:
        raise OpenworldError(f"the model has no weight {prefix + unknown[0]!r}; `named_parameters` lists its weights.")
    for name, tensor in direct.items():
        expected = list(module._parameters[name].shape)
        if list(tensor.shape) != expected:
            raise OpenworldError(f"the weight {prefix + name!r} is of shape {expected}, got {list(tensor.shape)}.")
    changed = copy.copy(module)
    # Straight into the dictionaries: attributes take parameters alone, and these are results that carry a gradient.
    vars(changed)["_parameters"] = module._parameters | direct
    children = {child: with_weights(module._modules[child], inside[child], f"{prefix}{child}.") for child in inside}
    vars(changed)["_modules"] = module._modules | children
    return changed
