"""The two-tower model users hold: pixels and text in, unnormalised joint embeddings out."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import torch
from torch import Tensor, nn

from openworld._errors import OpenworldError
from openworld.backbones import prompts as text_passes
from openworld.backbones.config import TwoTowerConfig
from openworld.backbones.preprocess import Preprocess
from openworld.backbones.prompts import PromptedNames
from openworld.backbones.tokenizer import Tokenizer
from openworld.backbones.towers import ImageTower, TextTower


class TwoTower(nn.Module):
    """CLIP or SigLIP: an image tower, a text tower, a logit scale and a logit bias.

    Built directly it is random and trainable; `load` returns it with published weights, frozen, in evaluation mode,
    with its tokenizer and preprocessing attached. Logits are logit_scale * cosine + logit_bias.
    """

    def __init__(
        self,
        config: TwoTowerConfig,
        *,
        tokenizer: Tokenizer | None = None,
        preprocess: Preprocess | None = None,
        name: str = "unnamed",
    ):
        super().__init__()
        self.config = config
        self.name = name
        self.tokenizer = tokenizer
        self.preprocess = preprocess
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
            digest = hashlib.sha256(json.dumps(asdict(self.config), sort_keys=True).encode())
            for name, tensor in self.state_dict().items():
                digest.update(name.encode())
                digest.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())
            self._fingerprint = digest.hexdigest()
        return self._fingerprint

    @property
    def preprocess_fingerprint(self) -> str:
        """SHA-256 (hex) of the preprocessing's settings."""
        return hashlib.sha256(json.dumps(asdict(self.preprocess), sort_keys=True).encode()).hexdigest()

    def encode_image(self, pixels: Tensor) -> Tensor:
        """Pixels float[B,3,H,W], as `preprocess` gives them, to unnormalised joint embeddings float[B,D].

        Raises OpenworldError when the image size is not the model's.
        """
        self._check_pixels(pixels)
        return self.image(pixels)

    def encode_patches(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Global embeddings float[B,D] and patch embeddings float[B,P,D] of pixels float[B,3,H,W], unnormalised.

        Patches go through the last block's value path and the joint projection (LoCoOp, Miyai et al., 2023, section
        3; GalLoP, Lafon et al., 2024). Raises OpenworldError for a model without a class token (SigLIP).
        """
        if not self.config.image.class_token:
            raise OpenworldError(
                "patch embeddings need an image tower with a class token (CLIP); "
                "this model pools by attention (SigLIP)."
            )
        self._check_pixels(pixels)
        return self.image.forward_patches(pixels)

    def encode_text(self, texts: Sequence[str]) -> Tensor:
        """C plain sentences to unnormalised joint embeddings float[C,D]; wrap in `torch.no_grad()` where frozen.

        Raises OpenworldError for an empty list and for a sentence longer than the model reads.
        """
        if isinstance(texts, str) or not len(texts):
            raise OpenworldError(f"expected a list of at least one sentence, got {texts!r}.")
        return text_passes.encode_sentences(self.text, self.tokenizer(texts))

    def prompt_names(self, names: Sequence[str], context_length: int, suffix: str = ".") -> PromptedNames:
        """Prepare class names for `encode_prompts`: "X X .. X name" + suffix with `context_length` placeholders.

        names: C class names; "_" is read as a space. suffix: what follows the name, often "." or ", a type of pet.".
        Raises OpenworldError for a name that does not fit and for a model without a causal text tower.
        Source: CoOp (Zhou et al., 2022), section 3.2, unified context, class name at the end.
        """
        return text_passes.prompt_names(self.text, self.tokenizer, names, context_length, suffix)

    def encode_prompts(
        self,
        context: Tensor,
        prompts: PromptedNames,
        *,
        replace: Mapping[int, Tensor] | None = None,
        replace_per_class: Mapping[int, Tensor] | None = None,
    ) -> Tensor:
        """Embed every name behind a context: float[C,D] for context [P,W], float[G,C,D] for [G,P,W]; unnormalised.

        context: word embeddings without positions; the result is differentiable with respect to it, and equal to a
        full pass over all positions up to the order of floating-point sums. G contexts cost one pass of G prefixes.
        replace: block index -> [n,W] or [G,n,W], rows put in place of positions 1..n at that block's input (deep
        prompts). replace_per_class: block index -> [C,P,W], the same, different for every name (class-aware prompts).
        Raises OpenworldError for a context of another shape.
        """
        return text_passes.encode_prompts(self.text, context, prompts, replace, replace_per_class)

    def embed_words(self, phrase: str) -> Tensor:
        """Token embeddings float[n,W] of a phrase, without start, end and positions: a first value for a context."""
        tokens = self.tokenizer([phrase])[0][1:-1]
        return self.text.tokens.weight[torch.tensor(tokens, dtype=torch.int64, device=self.device)].detach().clone()

    def _check_pixels(self, pixels: Tensor) -> None:
        size = self.config.image.image_size
        if pixels.dim() != 4 or pixels.shape[1:] != (3, size, size):
            raise OpenworldError(
                f"expected pixels of shape [B, 3, {size}, {size}], got {list(pixels.shape)}; "
                "`preprocess` turns a picture into them."
            )
