"""The shapes and switches of a two-tower model, as frozen dataclasses.

One description serves both families: CLIP (Radford et al., 2021: causal text pooled at the end token, image pooled at
a class token) and SigLIP (Zhai et al., 2023: bidirectional text pooled at the last position, attention-pooled image,
a logit bias). Nothing here reads a file; `loading` fills these from a checkpoint's own configuration.
"""

from dataclasses import dataclass, fields

from openworld.core.errors import OpenworldError
from openworld.core.types import checked

ACTIVATIONS = ("quick_gelu", "gelu", "gelu_tanh")


# The largest published towers have some 60 blocks of width 2,000 to 6,000; what is far beyond that is a damaged file.
_MOST_BLOCKS, _MOST = 1000, 2**24
_FROM_ZERO = ("end_token", "pad_token")


def _require_numbers(what: str, config) -> None:
    """Refuse sizes below 1, tokens below 0, and an epsilon outside (0, 1)."""
    for field in fields(config):
        value, name = getattr(config, field.name), f"{field.name} of {what}"
        if type(value) is float and not 0 < value < 1:
            raise OpenworldError(f"{name} is {value!r}, expected a number between 0 and 1.")
        if type(value) is int:
            least, most = int(field.name not in _FROM_ZERO), _MOST_BLOCKS if field.name == "layers" else _MOST
            if not least <= value <= most:
                raise OpenworldError(f"{name} is {value!r}, expected a whole number from {least} to {most}.")


def _check_tower(tower: str, config, pools: tuple[str, ...]) -> None:
    _require_numbers(f"the {tower} tower", config)
    if config.width % config.heads:
        raise OpenworldError(f"the {tower} tower's width {config.width} is not a multiple of its {config.heads} heads.")
    if config.activation not in ACTIVATIONS:
        raise OpenworldError(
            f"unknown activation {config.activation!r} in the {tower} tower; known: {', '.join(ACTIVATIONS)}."
        )
    if config.pool not in pools:
        raise OpenworldError(f"unknown pooling {config.pool!r} in the {tower} tower; known: {', '.join(pools)}.")


@checked
@dataclass(frozen=True)
class TextConfig:
    """The text tower: widths in numbers of features, `positions` in tokens.

    causal: True for CLIP (each row sees itself and earlier rows), False for SigLIP.
    pool: "end" takes the row of the end token, "last" the row at the last position.
    end_token: id of the end token, or None for "the highest id of the sentence" (OpenAI's rule).
    pad_token: id that fills a bidirectional tower's sentences up to `positions`.
    """

    width: int = 512
    layers: int = 12
    heads: int = 8
    mlp_width: int = 2048
    vocabulary: int = 49408
    positions: int = 77
    activation: str = "quick_gelu"
    norm_epsilon: float = 1e-5
    causal: bool = True
    pool: str = "end"
    end_token: int | None = None
    pad_token: int = 0
    projection_bias: bool = False

    def __post_init__(self):
        _check_tower("text", self, pools=("end", "last"))


@checked
@dataclass(frozen=True)
class ImageConfig:
    """The image tower: `image_size` and `patch_size` in pixels (square), widths in numbers of features.

    class_token: a learned row in front of the patches, pooled when `pool` is "class" (CLIP).
    pool: "class", or "attention" for one learned query over all patches (SigLIP's map head).
    """

    image_size: int = 224
    patch_size: int = 16
    width: int = 768
    layers: int = 12
    heads: int = 12
    mlp_width: int = 3072
    activation: str = "quick_gelu"
    norm_epsilon: float = 1e-5
    class_token: bool = True
    pre_norm: bool = True
    patch_bias: bool = False
    pool: str = "class"

    def __post_init__(self):
        _check_tower("image", self, pools=("class", "attention"))
        if self.image_size < self.patch_size:
            raise OpenworldError(
                f"an image of {self.image_size} pixels does not hold a patch of {self.patch_size} pixels."
            )

    @property
    def grid(self) -> int:
        """Whole patches along one side; what is left of the picture is not seen (SigLIP: 384 pixels, patches of 14).

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
    joint_dimension: int = 512
    family: str = "clip"

    def __post_init__(self):
        _require_numbers("the model", self)
        if self.family not in ("clip", "siglip"):
            raise OpenworldError(f"unknown model family {self.family!r}; known: clip, siglip.")


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
