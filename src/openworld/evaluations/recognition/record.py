"""What a record of recognition holds: written by `task` and by `openworld score`, read by `results`.

All numbers are fractions in [0, 1]; None where a number is not defined, or was not measured.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from openworld.evaluations.recognition_metrics import recognition_metrics
from openworld.metrics import PointsLost
from openworld.runs import read_spec


@dataclass(frozen=True)
class Undefinable:
    """OpenworldAUC, which has a standard error, or a reason why it is not defined."""

    value: float | None
    standard_error: float | None = None
    reason: str | None = None


@dataclass(frozen=True)
class MixNumbers:
    """Every number of one mix of base and new images."""

    base_accuracy: float | None = None
    new_accuracy: float | None = None
    harmonic_mean: float | None = None
    auroc: float | None = None
    overall_accuracy: float | None = None
    openworld_auc: float | None = None


MIXED = tuple(MixNumbers.__annotations__)
"""The numbers of a mix."""

SHRUNK = {"forward": "new", "backward": "base"}
"""Which half has fewer images, by the paper's names of the two tasks."""


@dataclass(frozen=True, kw_only=True)
class Mix(MixNumbers):
    """Numbers of one mix, means over the draws.

    Args:
        n_base, n_new: images of a draw.
        resamples: draws.
        spread: standard deviations of one draw; None where they are not known.
    """

    n_base: int
    n_new: int
    resamples: int = 1
    spread: MixNumbers = MixNumbers()

    @property
    def share_of_new(self) -> float:
        """The share of new images."""
        return self.n_new / (self.n_base + self.n_new)


@dataclass(frozen=True, kw_only=True)
class RatioMix(Mix):
    """A mix of the sweep: the natural share of new to base images times `ratio`."""

    ratio: float


@dataclass(frozen=True)
class ExpectedAUC:
    """The exact mean of OpenworldAUC over all possible draws, with its 95 % interval over images."""

    value: float | None
    reason: str | None
    interval: tuple[float, float] | None


@dataclass(frozen=True, kw_only=True)
class ShrunkMix(Mix):
    """A mix in which every class of one half keeps one image in `factor`.

    Args:
        standard_deviation: of OpenworldAUC in one draw.
        interval: 95 % of the mean over the draws, Student's t, these images given.
        values: OpenworldAUC of every draw.
        expected: over all possible draws.
    """

    factor: float
    standard_deviation: float | None
    interval: tuple[float, float] | None
    values: tuple[float | None, ...]
    expected: ExpectedAUC


@dataclass(frozen=True)
class Variation:
    """Mean and sample variance of a number over the ratios, of one draw, means over the draws."""

    mean: float | None
    variance: float | None


@dataclass(frozen=True)
class Reached:
    """What a threshold does on the validation images, the best that any could do, and on how many images."""

    miss_rate: float | None
    hit_rate: float | None
    cost: float | None
    least_miss: float | None
    most_hit: float | None
    n_base: int
    n_new: int


@dataclass(frozen=True)
class Rate:
    """A share of test images with its 95 % interval, clustered by group."""

    value: float | None
    interval: tuple[float, float] | None
    n: int
    effective_n: float | None
    reason: str | None


@dataclass(frozen=True)
class ExpectedCost:
    """Expected cost of one image, and its 95 % interval."""

    cost: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class TestRates:
    """What a threshold does on the test images."""

    miss: Rate
    hit: Rate
    false_alarm: Rate
    detected: Rate
    cost: ExpectedCost | None

    __test__ = False  # pytest would collect it by its name


@dataclass(frozen=True)
class OperatingPointRecord:
    """A threshold chosen on validation images.

    Args:
        rule: by its keys in a spec.
        threshold: on the score; None with a `reason`.
        baseness: the same for `openworld predict --threshold`; None where there is none.
    """

    rule: dict[str, float]
    threshold: float | None
    reason: str | None
    baseness: float | None
    validation: Reached
    test: TestRates | None


@dataclass(frozen=True, kw_only=True)
class RecognitionNumbers:
    """Every number of one learner with one seed on the images of one place."""

    openworld_auc: Undefinable
    base_accuracy: float | None = None
    new_accuracy: float | None = None
    harmonic_mean: float | None = None
    auroc: float | None = None
    correct_auroc: float | None = None
    overall_accuracy: float | None = None
    aupr_in: float | None = None
    aupr_out: float | None = None
    fpr95_in_positive: float | None = None
    fpr95_out_positive: float | None = None
    ece: float | None = None
    points_lost: PointsLost | None = None


@dataclass(frozen=True, kw_only=True)
class RecognitionRecord(RecognitionNumbers):
    """The metrics of one learner with one seed, scored in one setting.

    Args:
        task, split, train_domain, test_domain, backbone, shots: the setting; None of what does not apply.
        learner, method: its label, and which learner it is.
        tuned_parameters: None where it was not trained here.
        group_name: what images that are not independent have in common.
        classnames: base names, then new names.
        training_images: the "fewest" and the "most" of a class.
        detail: the settings that it was fitted with (`chosen`), what every candidate reached (`choices`), and the
            course of training (`history`).
        closed_set, aurc: whether it knows no names of new classes, and then the area under the risk-coverage curve of
            base images.
        left_out: classes that are neither base nor new.
        kind, dataset, domain, target, wordnet: of a learner that is scored in several places.
    """

    protocol: str = "recognition"
    task: str
    split: str
    train_domain: str | None
    test_domain: str | None
    backbone: str
    learner: str
    method: str | None = None
    seed: int
    shots: int | None = None
    epochs: int | None = None
    tuned_parameters: int | None
    n_base_classes: int
    n_new_classes: int
    group_name: str | None = None
    classnames: tuple[str, ...] = ()
    training_images: dict[str, int] | None = None
    detail: dict[str, Any] = field(default_factory=dict)

    imbalance: dict[str, ShrunkMix] | None = None
    ratio_sweep: tuple[RatioMix, ...] = ()
    ratio_variation: dict[str, Variation] | None = None
    operating_point: OperatingPointRecord | None = None
    closed_set: bool = False
    aurc: float | None = None

    kind: str | None = None
    dataset: str | None = None
    domain: str | None = None
    target: str | None = None
    left_out: tuple[str, ...] = ()
    wordnet: bool = False


def numbers_of(table: Mapping, *, closed_set: bool = False) -> dict[str, Any]:
    """The numbers of a per-image table, as a record holds them; `closed_set` as for `recognition_metrics`."""
    numbers = recognition_metrics(table, closed_set=closed_set)
    lost = numbers["points_lost"]
    return numbers | {
        "openworld_auc": Undefinable(**numbers["openworld_auc"]),
        "points_lost": lost and PointsLost(**lost),
    }


def read_record(metrics: Mapping[str, Any]) -> RecognitionRecord:
    """The metrics of a record as its dataclass; what only another evaluation says in them is left out."""
    known = {each.name for each in fields(RecognitionRecord)} & metrics.keys()
    return read_spec({name: metrics[name] for name in known}, RecognitionRecord)
