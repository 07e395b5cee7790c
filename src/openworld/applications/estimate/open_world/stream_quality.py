"""What `openworld estimate --open-world` says, as data: what each premise makes of a stream.

Numbers are fractions in [0, 1]; None is a number that cannot be told. All of this can be written as JSON.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

QUANTITIES = ("openworld_auc", "base_accuracy", "new_accuracy", "auroc", "new_share", "overall_accuracy")
"""What is estimated, OpenworldAUC first; the share of new images is what most of it hangs on."""


@dataclass(frozen=True)
class PremiseEstimate:
    """What one estimator says, if its premise holds.

    Args:
        estimator: its name, or "nothing" for the premise that nothing is assumed.
        premise: what is taken for true, in a sentence without capital and full stop.
        numbers: quantity -> fraction, or None where the premise does not give it.
        reasons: quantity -> why there is none.
        warnings: what speaks against it on this stream. details: numbers that it rests on.
    """

    estimator: str
    premise: str
    numbers: Mapping[str, float | None]
    reasons: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def openworld_auc(self) -> float | None:
        """The first of its numbers."""
        return self.numbers.get("openworld_auc")


@dataclass(frozen=True)
class NewShareByTwoWays:
    """The share of new images by probabilities, and by scores; None where a way gives none.

    probabilities_of: "reference" or "own", the model whose probabilities these are. gap: how far the two lie apart.
    confidence_moved: by how much the reference is surer here than on the source; None without a reference. signs: of
    "shares" and "confidence" those that are too large for any premise to be trusted.
    """

    probabilities: float | None
    scores: float | None
    gap: float | None
    probabilities_of: str = "own"
    confidence_moved: float | None = None
    signs: tuple[str, ...] = ()

    @property
    def alarm(self) -> bool:
        """Whether there is a sign; the learner's own probabilities part from its scores too often to raise one."""
        return bool(self.signs) and self.probabilities_of == "reference"


@dataclass(frozen=True)
class AgainstNewShare:
    """OpenworldAUC by one estimator if the share of new images were another."""

    estimator: str
    shares: tuple[float, ...]
    openworld_auc: tuple[float | None, ...]


@dataclass(frozen=True)
class MadeUpErrors:
    """How far an estimator is off on streams made of labelled base images, some of whose classes play the new ones.

    streams: how many. mean_absolute, bias: quantity -> over these streams.
    """

    estimator: str
    new_share: float
    streams: int
    mean_absolute: Mapping[str, float | None]
    bias: Mapping[str, float | None]


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
        premises: the ladder, from no premise to the strongest.
        quoted: the estimator whose numbers are told first; "" where the OpenworldAUC cannot be told.
        why: the reason for that choice, or why it cannot be told.
        new_share: given from outside, or None. shares: by two ways, without it.
        against_new_share: by estimator. made_up: by estimator and share of new.
        warnings: of the data, not of an estimator. made: facts by name, such as the files.
    """

    source: StreamFacts
    target: StreamFacts
    premises: tuple[PremiseEstimate, ...]
    quoted: str
    why: str
    shares: NewShareByTwoWays
    new_share: float | None = None
    against_new_share: tuple[AgainstNewShare, ...] = ()
    made_up: tuple[MadeUpErrors, ...] = ()
    warnings: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)

    @property
    def answers(self) -> tuple[PremiseEstimate, ...]:
        """The premises under which there is an OpenworldAUC."""
        return tuple(own for own in self.premises if own.openworld_auc is not None)

    @property
    def quote(self) -> PremiseEstimate | None:
        """What is told first."""
        return next((own for own in self.premises if own.estimator == self.quoted), None)

    @property
    def spread(self) -> float | None:
        """How far the premises lie apart in OpenworldAUC; None of fewer than two."""
        values = [own.openworld_auc for own in self.answers]
        return max(values) - min(values) if len(values) > 1 else None

    @property
    def unknown(self) -> tuple[str, ...]:
        """The stream's name where its OpenworldAUC cannot be told."""
        return () if self.quoted else (self.target.name,)

    @property
    def alerts(self) -> tuple[str, ...]:
        """No alert is raised on an estimate that rests on a premise."""
        return ()
