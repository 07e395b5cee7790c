"""The training recipe: sizes, shares and schedules, each a function of the progress of the run (0 to 1)."""

from dataclasses import dataclass

from openworld.backbones.config import ImageConfig, TextConfig, TwoTowerConfig

# What pixels in [0,1] are normalised with; about the mean and deviation of the augmented images.
MEAN, STD = 0.7, 0.3


@dataclass(frozen=True)
class Recipe:
    """Every number of the training. The run ends at `samples` images or `minutes`, whichever comes first."""

    samples: int = 4_000_000
    minutes: float = 90.0
    batch: int = 64
    joint_batch: int = 128
    workers: int = 2
    parts: int = 4
    joint_parts: int = 2
    seed: int = 2026
    rate: float = 5e-4
    class_rate: float = 1.5e-3
    joint_rate: float = 1e-4
    weight_decay: float = 0.05
    betas: tuple[float, float] = (0.9, 0.98)
    scale: float = 20.0
    label_smoothing: float = 0.05
    align: float = 2.0
    pull: float = 0.5
    average: float = 0.998
    caption_share: float = 0.5  # of the images of a batch get a caption before the joint phase
    other_captions: int = 32
    other_classes: int = 64
    # From which progress on each image keeps how many patches; 0 for all.
    patches: tuple[tuple[float, int], ...] = ((0.0, 24), (0.5, 32), (0.8, 0))
    warm_up: float = 0.02
    hold: float = 0.3
    looks_ramp: tuple[float, float] = (0.2, 0.7)
    joint_from: float = 0.97

    def progress(self, samples: int, seconds: float) -> float:
        """How much of the run is done, by images or by time, whichever is further."""
        return min(1.0, max(samples / self.samples, seconds / 60 / self.minutes))

    def rate_factor(self, progress: float) -> float:
        """Share of the peak learning rate: linear warm-up, held, linear to zero where the joint phase begins."""
        if progress < self.warm_up:
            return max(progress, 1e-3) / self.warm_up
        return min(1.0, max(0.0, (self.joint_from - progress) / (self.joint_from - self.hold)))

    def joint_factor(self, progress: float) -> float:
        """Share of the joint phase's learning rate: 0 before it, then falling linearly from 1 to 0."""
        return (1 - progress) / (1 - self.joint_from) if progress >= self.joint_from else 0.0

    def kept_patches(self, progress: float) -> int | None:
        """Patches each image keeps (patch dropout), None for all."""
        kept = [count for start, count in self.patches if progress >= start][-1]
        return kept or None

    def looks_strength(self, progress: float) -> float:
        """How often images are redrawn in another look and laid on a background, 0 to 1."""
        start, end = self.looks_ramp
        return min(1.0, max(0.0, (progress - start) / (end - start)))


def model_config(vocabulary: int, end_token: int) -> TwoTowerConfig:
    """The shapes of the embedded model."""
    text = TextConfig(
        width=128, layers=4, heads=4, mlp_width=512, vocabulary=vocabulary, positions=32, end_token=end_token
    )
    image = ImageConfig(image_size=64, patch_size=8, width=192, layers=6, heads=3, mlp_width=768)
    return TwoTowerConfig(text=text, image=image, joint_dimension=128)
