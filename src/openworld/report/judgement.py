"""What `openworld estimate` found: the accuracy of a model on images without labels, by every method that was asked.

Accuracies are fractions in [0, 1], of which None is an accuracy that could not be told. Everything here can be written
as JSON and read again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Interval = tuple[float, float] | None
MOVED = 0.05  # total variation beyond chance from which predicted shares have moved


@dataclass(frozen=True)
class Method:
    """One method's answer. sampled: of how many images, where that is not all of them."""

    name: str
    summary: str
    accuracy: float | None
    interval: Interval
    warnings: tuple[str, ...] = ()
    sampled: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Side:
    """The source or the target. accuracy: the true one, where labels are known."""

    name: str
    n: int
    classes: int
    accuracy: float | None = None


@dataclass(frozen=True)
class Shift:
    """Total variation of the shares of predicted classes between source and target, and what chance makes of it."""

    distance: float
    chance: float

    @property
    def clear(self) -> bool:
        """Whether the shares have moved by more than chance and a little."""
        return self.distance > self.chance + MOVED


@dataclass(frozen=True)
class Stretch:
    """A span of the target. label: its time, or its first and last image; first: from 0; accuracy: true, or None.

    methods: name -> (accuracy, low, high), each perhaps None.
    """

    label: str
    first: int
    n: int
    sampled: int | None
    methods: Mapping[str, tuple[float | None, float | None, float | None]]
    accuracy: float | None = None


@dataclass(frozen=True)
class ClassLine:
    """One class. predicted, expected: how many target images are named so, and are expected to be so.

    accuracy, interval: of the images named so; recall: of those that are so; taken_for: (true class, how many images)
    of those that are named so and expected to be another class, the most frequent first. source_accuracy: of the
    source images named so, source_share: of images of this class on the source.
    """

    name: str
    predicted: int
    expected: float
    accuracy: float | None
    interval: Interval
    recall: float | None
    source_accuracy: float | None
    source_share: float
    taken_for: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Judgement:
    """Everything that was found.

    headline: the method that is quoted, or None; why: in a sentence. methods: in the order asked. stretches: over time,
    in order; classes: class by class, by `class_method` on `class_images` images. alert: the accuracy below which
    somebody wants to know. shift: of the predicted classes; agreement: share of images that judged model and reference
    name alike, on source and target. warnings: of the data, not of a method. made: facts by name, such as the files.
    """

    source: Side
    target: Side
    headline: str | None
    why: str
    methods: tuple[Method, ...]
    stretches: tuple[Stretch, ...] = ()
    classes: tuple[ClassLine, ...] = ()
    class_method: str = ""
    class_images: int = 0
    alert: float | None = None
    shift: Shift | None = None
    agreement: tuple[float, float] | None = None
    warnings: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)

    @property
    def quoted(self) -> Method | None:
        """The method of the headline."""
        return next((one for one in self.methods if one.name == self.headline), None)

    @property
    def spread(self) -> tuple[Method, Method] | None:
        """The methods of the lowest and the highest accuracy."""
        known = [one for one in self.methods if one.accuracy is not None]
        if not known:
            return None
        return min(known, key=lambda one: one.accuracy), max(known, key=lambda one: one.accuracy)

    @property
    def alerts(self) -> tuple[str, ...]:
        """Where the quoted accuracy lies below the alert: labels of stretches, or the target's name."""
        if self.alert is None or self.quoted is None:
            return ()
        if not self.stretches:
            quoted = self.quoted.accuracy
            return (self.target.name,) if quoted is not None and quoted < self.alert else ()
        return tuple(one.label for one in self.stretches if self.below(one))

    def quoted_at(self, stretch: Stretch) -> tuple[float | None, float | None, float | None]:
        """What the quoted method says of a stretch, with its interval; three times None where nothing is quoted."""
        return stretch.methods.get(self.headline, (None, None, None))

    def below(self, stretch: Stretch) -> bool:
        """Whether a stretch's quoted accuracy lies below the alert."""
        accuracy = self.quoted_at(stretch)[0]
        return self.alert is not None and accuracy is not None and accuracy < self.alert
