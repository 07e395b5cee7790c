"""A period: images that follow each other, a chunk of a target or what a watch finished, and what was found of them.

Accuracies are fractions in [0, 1]; None is an accuracy that cannot be told. All of this is written as JSON, and read
again where a watch goes on.
"""

from dataclasses import dataclass
from pathlib import Path

from openworld.estimators.quote import Quote
from openworld.estimators.quote.causes import NONE, Cause
from openworld.estimators.quote.shift_signs import ShiftSigns

Interval = tuple[float, float] | None
Range = tuple[float, float, float] | None
"""What a method says of sets of as many images that are like the source: on average, and between what 95 % lie."""

BY = "labels"
"""The method of a quote that rests on labels of the period's own images."""


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
        """Whether an alarm stands."""
        return self.statistic > 1


@dataclass(frozen=True)
class PeriodLabels:
    """What labels say of a period, or of a target that is not cut."""

    n: int
    drawn: bool  # whether the images were drawn with known probabilities
    plain: float  # share of the labelled images that is right
    accuracy: float | None  # of all its images; None with a reason
    interval: Interval
    standard_error: float | None
    reason: str = ""

    def quote(self, other: Quote) -> Quote:
        """Return what they say, where they say something; else what is quoted without them."""
        if self.accuracy is None:
            return other
        why = f"{self.n} labels of images that were drawn, and what the model's confidences add"
        return Quote(BY, self.accuracy, *self.interval, why, other.signs)


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
        """Return the cause, or the causes that are not told apart; "" where nothing is seen."""
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
    cause: PeriodCause | None = None
    corrected: Quote | None = None  # by labels of periods before it
    labelled: PeriodLabels | None = None
    began: str = ""  # time stamp of its first image, or ""
    ended: str = ""
    file: str = ""  # that finished it

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
