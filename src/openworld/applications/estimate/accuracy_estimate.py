"""What `openworld estimate` says: the accuracy of a model on images without labels, by every method.

Accuracies are fractions in [0, 1]; None is an accuracy that cannot be told. All of this can be written as JSON.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from openworld.applications.estimate.causes import PeriodCause
from openworld.estimators.quote import Quote
from openworld.estimators.quote.learned_shifts import LearnedShifts

Interval = tuple[float, float] | None
Range = tuple[float, float, float] | None
"""What a method says of sets of as many images that are like the source: on average, and between what 95 % lie."""

MOVED = 0.05  # total variation beyond chance from which predicted shares have moved


@dataclass(frozen=True)
class MethodEstimate:
    """One method's answer. sampled: of how many images, where that is not all of them."""

    name: str
    summary: str
    accuracy: float | None
    interval: Interval
    warnings: tuple[str, ...] = ()
    sampled: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    on_source: Range = None


@dataclass(frozen=True)
class ScoredSet:
    """The source or the target. accuracy: the true one, where labels are known."""

    name: str
    n: int
    classes: int
    accuracy: float | None = None


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
class Alarm:
    """A number tested against the alert, with what was tested before it.

    counted: the accuracy that was tested (`Quote.tested`); None where nothing is known. statistic, limit: an alarm
    stands where the first exceeds the second. alone: the accuracy below which such a chunk alone raises one; lasting:
    that below which such chunks do in the long run.
    """

    counted: float | None
    statistic: float
    limit: float
    standing: bool
    alone: float
    lasting: float


@dataclass(frozen=True)
class ShiftAlarm:
    """Whether the images are no longer like the source's, over the chunks so far.

    score: of this chunk, in standard deviations of source-like sets by its clearest sign; None where none could be
    compared. sign: its name. statistic: what scores add up to, in limits; an alarm stands above 1.
    """

    score: float | None
    sign: str
    statistic: float

    @property
    def standing(self) -> bool:
        """Whether an alarm stands."""
        return self.statistic > 1


@dataclass(frozen=True)
class PeriodLabels:
    """What labels say of a period, or of a target that is not cut.

    n: labels. drawn: whether the images were drawn with known probabilities. plain: share of the labelled images that
    is right. accuracy, interval, standard_error: of all its images; None with a `reason`.
    """

    n: int
    drawn: bool
    plain: float
    accuracy: float | None
    interval: Interval
    standard_error: float | None
    reason: str = ""

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "PeriodLabels":
        """Return it of its JSON."""
        return cls(**{**data, "interval": data["interval"] and tuple(data["interval"])})


@dataclass(frozen=True)
class ChunkEstimate:
    """A chunk of the target. label: its time, or its first and last image; first: from 0; accuracy: true, or None.

    methods: name -> accuracy, perhaps None. quote: the number for this chunk, or that it cannot be told. on_source: of
    the quoted method. alarm: that the accuracy is below the alert, where there is one. shift_alarm: that the images are
    no longer like the source's. cause: of what moved, and images that carry it.
    labelled: what labels say of it, where some came.
    """

    label: str
    first: int
    n: int
    sampled: int | None
    methods: Mapping[str, float | None]
    quote: Quote
    accuracy: float | None = None
    on_source: Range = None
    alarm: Alarm | None = None
    cause: PeriodCause | None = None
    labelled: PeriodLabels | None = None
    shift_alarm: ShiftAlarm | None = None

    @property
    def alarming(self) -> bool:
        """Whether an alarm stands that the accuracy is below the alert."""
        return self.alarm is not None and self.alarm.standing

    @property
    def shifted(self) -> bool:
        """Whether an alarm stands that the images are no longer like the source's."""
        return self.shift_alarm is not None and self.shift_alarm.standing


@dataclass(frozen=True)
class ClassEstimate:
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
class AccuracyEstimate:
    """All of it.

    quote: the number, or that it cannot be told. methods: in the order of their names. chunks: over time, in order.
    classes: class by class, by the quoted method on `class_images` images. alert: the accuracy below which somebody
    wants to know. false_alarms: the rate at which that may be said in vain. alarm: the test of a target that is not
    cut. shift: of the predicted classes. agreement: share of images that model and reference name alike, on source and
    target. learned: from labelled shifts, if there were any. learned_quote: what that says of the target. labelled:
    what labels that came late say of a target that is not cut. worksheet: how many images its worksheet of labels to
    make lists. warnings: of the data, not of a method. made: facts by name, such as the files.
    """

    source: ScoredSet
    target: ScoredSet
    quote: Quote
    methods: tuple[MethodEstimate, ...]
    chunks: tuple[ChunkEstimate, ...] = ()
    classes: tuple[ClassEstimate, ...] = ()
    class_images: int = 0
    alert: float | None = None
    false_alarms: float | None = None
    alarm: Alarm | None = None
    shift: ClassShift | None = None
    agreement: tuple[float, float] | None = None
    learned: LearnedShifts | None = None
    learned_quote: Quote | None = None
    labelled: PeriodLabels | None = None
    worksheet: int = 0
    warnings: tuple[str, ...] = ()
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
