"""What `openworld estimate --open-world` says, as data: bounds without a label, and which labels tell more.

Numbers are fractions in [0, 1]; None is a number that cannot be told. All of this can be written as JSON.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from openworld.estimators.open_world import StreamBounds

QUANTITIES = ("openworld_auc", "base_accuracy", "new_accuracy", "auroc", "new_share", "overall_accuracy")
"""What labels of a stream say, where it has some."""

LABELS = 200
"""Images to label: `bench/quoted/open_world.py` says what they give on seven kinds of data."""


@dataclass(frozen=True)
class StreamFacts:
    """The labelled base images, or the stream. truth: quantity -> what labels say, where there are any."""

    name: str
    images: int
    base_names: int
    new_names: int
    truth: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class StreamQuality:
    """All of it.

    Args:
        source, target: labelled base images, and the stream.
        bounds: what holds without labels. new_share: given from outside, or None.
        labels: how many images to label. plan: the command that draws them.
        warnings: of the data. made: facts by name, such as the files.
    """

    source: StreamFacts
    target: StreamFacts
    bounds: StreamBounds
    new_share: float | None
    labels: int
    plan: str
    warnings: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The stream's name where OpenworldAUC is not bounded."""
        return () if self.bounds.openworld_auc is not None else (self.target.name,)

    @property
    def alerts(self) -> tuple[str, ...]:
        """No alert is raised on a bound."""
        return ()
