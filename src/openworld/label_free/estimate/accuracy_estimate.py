"""What `openworld estimate` says: the accuracy of a model on images without labels, by every method.

Accuracies are fractions in [0, 1]; None is an accuracy that cannot be told. All of this can be written as JSON.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from openworld.estimators.quote import Quote
from openworld.estimators.quote.learned_shifts import LearnedShifts
from openworld.label_free.estimate.period import Alarm, Interval, Period, PeriodLabels, Range

MOVED = 0.05  # total variation beyond chance from which predicted shares have moved


@dataclass(frozen=True)
class MethodEstimate:
    """One method's answer."""

    name: str
    summary: str
    accuracy: float | None
    interval: Interval
    warnings: tuple[str, ...] = ()
    sampled: int | None = None  # of how many images, where that is not all of them
    details: Mapping[str, Any] = field(default_factory=dict)
    on_source: Range = None


@dataclass(frozen=True)
class ScoredSet:
    """The source or the target."""

    name: str
    n: int
    classes: int
    accuracy: float | None = None  # the true one, where labels are known


@dataclass(frozen=True)
class ClassShift:
    """Total variation of the shares of predicted classes between source and target, and what chance makes of it."""

    distance: float
    chance: float

    @property
    def clear(self) -> bool:
        """Whether the shares have moved by more than chance and a little."""
        return self.distance > self.chance + MOVED


@dataclass(frozen=True)
class ClassEstimate:
    """One class."""

    name: str
    predicted: int  # target images that are named so
    expected: float  # and that are expected to be so
    accuracy: float | None  # of the images named so
    interval: Interval
    recall: float | None  # of those that are so
    source_accuracy: float | None  # of the source images named so
    source_share: float  # of images of this class on the source
    taken_for: tuple[tuple[str, float], ...] = ()  # true class and count of images that are named so and are not


@dataclass(frozen=True)
class AccuracyEstimate:
    """All of it."""

    source: ScoredSet
    target: ScoredSet
    quote: Quote
    methods: tuple[MethodEstimate, ...]
    chunks: tuple[Period, ...] = ()
    classes: tuple[ClassEstimate, ...] = ()
    class_images: int = 0  # on how many images the estimate class by class rests
    alert: float | None = None  # the accuracy below which somebody wants to know
    false_alarms: float | None = None  # the rate at which that may be said in vain
    alarm: Alarm | None = None  # of a target that is not cut
    shift: ClassShift | None = None
    agreement: tuple[float, float] | None = None  # share that model and reference name alike, on source and target
    learned: LearnedShifts | None = None
    learned_quote: Quote | None = None  # what labelled shifts say of the target
    labelled: PeriodLabels | None = None  # what late labels say of a target that is not cut
    worksheet: int = 0  # images that the worksheet of labels to make lists
    warnings: tuple[str, ...] = ()  # of the data, not of a method
    made: Mapping[str, str] = field(default_factory=dict)

    @property
    def answers(self) -> tuple[MethodEstimate, ...]:
        """The methods that give an accuracy."""
        return tuple(method for method in self.methods if method.accuracy is not None)

    @property
    def alerts(self) -> tuple[str, ...]:
        """Where an alarm stands: labels of chunks, or the target's name."""
        whole = (self.target.name,) if self.alarm is not None and self.alarm.standing else ()
        return whole or tuple(chunk.label for chunk in self.chunks if chunk.alarming)

    @property
    def shift_alerts(self) -> tuple[str, ...]:
        """Chunks in which an alarm stands that the images are no longer like the source's."""
        return tuple(chunk.label for chunk in self.chunks if chunk.shifted)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Where the accuracy cannot be told: labels of chunks, and the target's name if it is that of the whole."""
        parts = tuple(chunk.label for chunk in self.chunks if chunk.quote.accuracy is None)
        return parts if self.quote.accuracy is not None else (self.target.name, *parts)
