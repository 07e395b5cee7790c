"""What `openworld estimate` says: the accuracy of a model on images without labels, by every method, and by period.

A period is images that follow each other: a chunk of a target, or what a watch finished. Accuracies are fractions in
[0, 1]; None is an accuracy that cannot be estimated. All is written as JSON, and read again where a watch goes on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openworld.core.errors import present
from openworld.estimators.quote.causes import NONE, Cause
from openworld.estimators.quote.decision import Quote
from openworld.estimators.quote.learned_shifts import LearnedShifts
from openworld.estimators.quote.shift_signs import ShiftSigns

Interval = tuple[float, float] | None
Range = tuple[float, float, float] | None
"""What a method says of sets of as many images that are like the source: on average, and between what 95 % lie."""

BY = "labels"
"""The method of a quote that rests on labels of the period's own images."""

MOVED = 0.05  # total variation beyond chance from which predicted shares have moved


@dataclass(frozen=True)
class Alarm:
    """A number tested against the alert, with what was tested before it."""

    counted: float | None  # the accuracy that was tested (`Quote.tested`); None where nothing is known
    statistic: float
    limit: float  # an alarm stands where the statistic exceeds it
    standing: bool
    alone: float  # the accuracy below which such a period alone raises an alarm
    lasting: float  # that below which such periods do in the long run

    @property
    def ratio(self) -> float:
        """The statistic relative to its limit: an alarm stands above 1."""
        return float(self.statistic / self.limit)


@dataclass(frozen=True)
class ShiftAlarm:
    """Whether the images are no longer like the source's, over the periods so far."""

    score: float | None  # of this period by its clearest sign, in deviations of source-like sets; None without a sign
    sign: str
    statistic: float  # what scores add up to, in limits

    @property
    def standing(self) -> bool:
        return self.statistic > 1


@dataclass(frozen=True)
class PeriodLabels:
    """What labels say of a period, or of a target that is not cut."""

    n: int
    drawn: bool  # whether the images were drawn with known probabilities
    plain: float  # share of the labelled images that is right
    accuracy: float | None = None  # of all its images; None with a reason
    interval: Interval = None
    standard_error: float | None = None
    reason: str = ""

    def quote(self, other: Quote) -> Quote:
        """Return what they say, where they say something; else what is quoted without them."""
        if self.accuracy is None:
            return other
        why = f"{self.n} labels of images that were drawn, and what the model's confidences add"
        low, high = present(self.interval, "an interval")
        return Quote(BY, self.accuracy, low, high, why, other.signs)


@dataclass(frozen=True)
class PeriodImage:
    """An image that carries a cause. row: of all images, from 0; id, image: as columns say, or ""."""

    row: int
    id: str = ""
    image: str = ""

    @property
    def name(self) -> str:
        """What it is called where it is not shown."""
        return self.id or Path(self.image).name or f"row {self.row:,}"


@dataclass(frozen=True)
class PeriodCause:
    """The likely cause of what moved in a period, and images that carry it, those first that do most."""

    likely: Cause
    images: tuple[PeriodImage, ...] = ()

    @property
    def text(self) -> str:
        """The cause, or the causes among which it is unclear; "" where nothing is seen."""
        cause = self.likely
        if cause.cause == NONE:
            return ""
        return f"{', '.join(cause.among[:-1])} or {cause.among[-1]}" if cause.among else cause.cause


@dataclass(frozen=True)
class Period:
    """Images that follow each other, and what was found of them."""

    number: int  # from 0
    label: str  # its time, its first and last image, or its file
    first: int  # place of its first image, from 0
    n: int
    sampled: int | None
    methods: dict[str, float | None]
    unlabelled: Quote  # what is quoted without any label, which later corrections learn from
    signs: ShiftSigns  # how far it lies from the source
    accuracy: float | None = None  # the true one
    source_like: Range = None  # what the quoted method says of the source
    alarm: Alarm | None = None
    shift_alarm: ShiftAlarm | None = None
    cause: PeriodCause | None = None  # of a period that has ended
    corrected: Quote | None = None  # by labels of periods before it
    labelled: PeriodLabels | None = None
    began: str = ""  # time stamp of its first image, or ""
    ended: str = ""
    file: str = ""  # that finished it

    @property
    def moved(self) -> PeriodCause:
        """The likely cause of a period that has ended."""
        return present(self.cause, f"the likely cause of {self.label}")

    @property
    def finished(self) -> Quote:
        """What was quoted when it was finished, before labels of its own images came."""
        return self.corrected or self.unlabelled

    @property
    def quote(self) -> Quote:
        """What is quoted of it."""
        return self.finished if self.labelled is None else self.labelled.quote(self.finished)

    @property
    def on_source(self) -> Range:
        """What the quoted method says of as many images of the source; None of labels."""
        return None if self.quote.method == BY else self.source_like

    @property
    def alarming(self) -> bool:
        """Whether an alarm stands that the accuracy is below the alert."""
        return self.alarm is not None and self.alarm.standing

    @property
    def shifted(self) -> bool:
        """Whether an alarm stands that the images are no longer like the source's."""
        return self.shift_alarm is not None and self.shift_alarm.standing


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

    @property
    def right(self) -> float:
        """The true accuracy of a set with labels, as every source has them."""
        return present(self.accuracy, f"the accuracy on {self.name}")


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
    temperature: float = 1.0  # of the model's logits, as the source has it
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
