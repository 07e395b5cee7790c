"""The shapes and switches of a two-tower model, as frozen dataclasses.

One description serves both families: CLIP (Radford et al., 2021: causal text pooled at the end token, image pooled at
a class token) and SigLIP (Zhai et al., 2023: bidirectional text pooled at the last position, attention-pooled image,
a logit bias). Nothing here reads a file; `loading` fills these from a checkpoint's own configuration.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from openworld.core.errors import OpenworldError
from openworld.core.types import Fraction, Range, checked

# The largest published towers have some 60 blocks of width 2,000 to 6,000; what is far beyond that is a damaged file.
Size = Annotated[int, Range(1, 2**24)]
Blocks = Annotated[int, Range(1, 1000)]
Token = Annotated[int, Range(0, 2**24)]
Activation = Literal["quick_gelu", "gelu", "gelu_tanh"]


def _require_whole_heads(tower: str, width: int, heads: int) -> None:
    if width % heads:
        raise OpenworldError(f"the {tower} tower's width {width} is not a multiple of its {heads} heads.")


@checked
@dataclass(frozen=True)
class TextConfig:
    """The text tower: widths in numbers of features, `positions` in tokens.

    causal: True for CLIP (each row sees itself and earlier rows), False for SigLIP.
    pool: "end" takes the row of the end token, "last" the row at the last position.
    end_token: id of the end token, or None for "the highest id of the sentence" (OpenAI's rule).
    pad_token: id that fills a bidirectional tower's sentences up to `positions`.
    """

    width: Size = 512
    layers: Blocks = 12
    heads: Size = 8
    mlp_width: Size = 2048
    vocabulary: Size = 49408
    positions: Size = 77
    activation: Activation = "quick_gelu"
    norm_epsilon: Fraction = 1e-5
    causal: bool = True
    pool: Literal["end", "last"] = "end"
    end_token: Token | None = None
    pad_token: Token = 0
    projection_bias: bool = False

    def __post_init__(self):
        _require_whole_heads("text", self.width, self.heads)


@checked
@dataclass(frozen=True)
class ImageConfig:
    """The image tower: `image_size` and `patch_size` in pixels (square), widths in numbers of features.

    class_token: a learned row in front of the patches, pooled when `pool` is "class" (CLIP).
    pool: "class", or "attention" for one learned query over all patches (SigLIP's map head).
    """

    image_size: Size = 224
    patch_size: Size = 16
    width: Size = 768
    layers: Blocks = 12
    heads: Size = 12
    mlp_width: Size = 3072
    activation: Activation = "quick_gelu"
    norm_epsilon: Fraction = 1e-5
    class_token: bool = True
    pre_norm: bool = True
    patch_bias: bool = False
    pool: Literal["class", "attention"] = "class"

    def __post_init__(self):
        _require_whole_heads("image", self.width, self.heads)
        if self.image_size < self.patch_size:
            raise OpenworldError(
                f"an image of {self.image_size} pixels does not hold a patch of {self.patch_size} pixels."
            )

    @property
    def grid(self) -> int:
        """Whole patches along one side; what is left of the image is not seen (SigLIP: 384 pixels, patches of 14).

        >>> ImageConfig(image_size=224, patch_size=16).grid
        14
        """
        return self.image_size // self.patch_size


@checked
@dataclass(frozen=True)
class TwoTowerConfig:
    """A whole model: both towers, the joint dimension they project to, and the family ("clip" or "siglip").

    >>> TwoTowerConfig().image.grid ** 2
    196
    """

    text: TextConfig = TextConfig()
    image: ImageConfig = ImageConfig()
    joint_dimension: Size = 512
    family: Literal["clip", "siglip"] = "clip"


SHAPES: dict[str, TwoTowerConfig] = {
    "openai/clip-vit-base-patch16": TwoTowerConfig(),
    "openai/clip-vit-base-patch32": TwoTowerConfig(image=ImageConfig(patch_size=32)),
    "openai/clip-vit-large-patch14": TwoTowerConfig(
        text=TextConfig(width=768, heads=12, mlp_width=3072),
        image=ImageConfig(patch_size=14, width=1024, layers=24, heads=16, mlp_width=4096),
        joint_dimension=768,
    ),
}
"""Models of the papers whose shape is known without their files: what they cost is told before anything is fetched."""
