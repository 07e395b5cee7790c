"""The models known by name: where they live, how large they are, what to know before using them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class BackboneCard:
    """One known model. source: hub id, or "package" for the one that ships with openworld.

    parameters: number of weights in millions. image_size: side of the input picture in pixels.
    """

    source: str
    parameters: float
    image_size: int
    note: str


_OF_THE_HUB = {
    "openai/clip-vit-base-patch32": (151.3, 224, "ViT-B/32, CLIP (Radford et al., 2021)"),
    "openai/clip-vit-base-patch16": (149.6, 224, "ViT-B/16, the backbone of most prompt-learning papers"),
    "openai/clip-vit-large-patch14": (427.6, 224, "ViT-L/14, CLIP (Radford et al., 2021)"),
    "openai/clip-vit-large-patch14-336": (427.9, 336, "ViT-L/14@336px, CLIP (Radford et al., 2021)"),
    "laion/CLIP-ViT-B-32-laion2B-s34B-b79K": (151.3, 224, "ViT-B/32 on LAION-2B, GELU (open_clip)"),
    "laion/CLIP-ViT-B-16-laion2B-s34B-b88K": (149.6, 224, "ViT-B/16 on LAION-2B, GELU (open_clip)"),
    "laion/CLIP-ViT-L-14-laion2B-s32B-b82K": (427.6, 224, "ViT-L/14 on LAION-2B (open_clip)"),
    "google/siglip-base-patch16-224": (203.2, 224, "SigLIP B/16: no causal text tower, no class token"),
    "google/siglip2-base-patch16-224": (375.2, 224, "SigLIP 2 B/16: no causal text tower, no class token"),
}
BACKBONES: dict[str, BackboneCard] = {
    "embedded": BackboneCard("package", 3.6, 64, "small CLIP for the embedded world; ships with openworld"),
    **{source: BackboneCard(source, *facts) for source, facts in _OF_THE_HUB.items()},
}

SHORT_NAMES = {
    "ViT-B/16": "openai/clip-vit-base-patch16",
    "ViT-B/32": "openai/clip-vit-base-patch32",
    "ViT-L/14": "openai/clip-vit-large-patch14",
    "ViT-L/14@336px": "openai/clip-vit-large-patch14-336",
    "clip": "openai/clip-vit-base-patch16",
    "siglip": "google/siglip-base-patch16-224",
    "siglip2": "google/siglip2-base-patch16-224",
}
"""What papers and people call a model -> its key in BACKBONES."""
