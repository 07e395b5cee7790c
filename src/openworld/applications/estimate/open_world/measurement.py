"""From two streams to what holds of the second without a label: labelled base images, and images of unknown sides.

Numbers are fractions in [0, 1]; None is a number that cannot be told. All of this can be written as JSON.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from openworld._errors import OpenworldError
from openworld.applications.open_world_stream import OpenWorldStream
from openworld.datasets.names.forms import normalise_class_name
from openworld.estimators.open_world import OpenWorldOutputs, StreamBounds, stream_bounds
from openworld.metrics import soft_openworld_auc

QUANTITIES = ("openworld_auc", "base_accuracy", "new_accuracy", "auroc", "new_share", "overall_accuracy")
"""What labels of a stream say, where it has some."""

LABELS = 200  # images to label: `bench/quoted/open_world.py` says what they give on seven kinds of data
LEAST = 40  # labelled base images below which nothing is said: temperatures are taken from them
SAMPLE = 100_000  # images of a longer stream that are looked at, of which a share is off by .3 points at most
NO_ZERO_SHOT = (
    "the streams lack a column zero_shot (`openworld predict --out` writes it), the model that the learner was tuned "
    "from: without it neither the share of new images nor a bound is told"
)


@dataclass(frozen=True)
class StreamFacts:
    """The labelled base images, or the stream."""

    name: str
    images: int
    base_names: int
    new_names: int
    truth: Mapping[str, float | None] = field(default_factory=dict)  # quantity -> what labels say, where there are any


@dataclass(frozen=True)
class StreamQuality:
    """What `openworld estimate --open-world` says: bounds without a label, and which labels tell more."""

    source: StreamFacts
    target: StreamFacts
    bounds: StreamBounds
    new_share: float | None  # given from outside
    labels: int  # how many images to label
    plan: str  # the command that draws them
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


def measure_quality(
    source: OpenWorldStream,
    target: OpenWorldStream,
    new_share: float | None = None,
    seed: int = 0,
    path: str = "",
    base_names: str = "",
) -> StreamQuality:
    """Return what holds of a stream, from labels of base images in the source that the learner did not train on."""
    # Labels of the target are only compared with; `path` and `base_names` are files, for the command that plans labels.
    require_same_names(source, target)
    labelled, warnings = _labelled_base(source)
    whole, rows = target, np.arange(len(target))
    if len(whole) > SAMPLE:
        rows = np.sort(np.random.default_rng(seed).choice(len(whole), SAMPLE, replace=False))
        warnings.append(f"of {len(whole):,} images of {whole.name} a uniform sample of {len(rows):,} is used")
        target = whole.rows(rows)
    if target.reference_kind != "zero-shot":
        warnings.append(NO_ZERO_SHOT)
    bounds = stream_bounds(outputs_of(source, labelled), outputs_of(target), new_share)

    labels = min(LABELS, len(whole))
    plan = f"openworld label plan {shlex.quote(path or whole.name)} --out labels --n {labels}"
    plan += f" --base-names {shlex.quote(base_names)}" if base_names else ""
    own = {"base_accuracy": float(source.labels.base_right[labelled].mean())}
    truth = true_numbers(whole) if whole.labels is not None and whole.labels.named.all() else {}
    sides = ((source, len(labelled), own), (whole, len(whole), truth))
    facts = [StreamFacts(one.name, n, len(one.base_names), len(one.new_names), known) for one, n, known in sides]
    return StreamQuality(*facts, bounds, new_share, labels, plan, tuple(warnings))


def outputs_of(stream: OpenWorldStream, rows: np.ndarray | None = None) -> OpenWorldOutputs:
    """Return a stream's arrays as estimators take them, with labels where rows of labelled images are chosen."""
    part = stream if rows is None else stream.rows(rows)
    known = rows is not None and part.labels is not None
    return OpenWorldOutputs(
        part.scores,
        base_logits=part.base_logits,
        new_logits=part.new_logits,
        logits=part.logits,
        labels=part.labels.label if known and part.base_logits is not None else None,
        base_right=part.labels.base_right if known else None,
        reference=part.reference,
        reference_kind=part.reference_kind,
    )


def require_same_names(source: OpenWorldStream, target: OpenWorldStream) -> None:
    """Refuse two streams of other base names or new names, or of the same in another order."""
    if (source.base_logits is None) != (target.base_logits is None):
        lacking = source if source.base_logits is None else target
        raise OpenworldError(f"{lacking.name} has no logits, and the other stream has; write both alike.")
    if source.base_logits is None:  # names that occur: scores alone are compared
        return
    for side, own, other in (
        ("base", source.base_names, target.base_names),
        ("new", source.new_names, target.new_names),
    ):
        ours, theirs = (list(map(normalise_class_name, names)) for names in (own, other))
        if ours != theirs:
            odd = sorted(set(ours) ^ set(theirs))
            what = f"{odd[0]!r} is in one of the two alone" if odd else "they come in another order"
            raise OpenworldError(
                f"{source.name} has {len(own)} {side} names and {target.name} {len(other)}, not the same: {what}; "
                "write both with one learner and the same names in the same order."
            )


def _labelled_base(source: OpenWorldStream) -> tuple[np.ndarray, list[str]]:
    """Return the rows of labelled base images, and what is to be said about the others."""
    labels = source.labels
    if labels is None:
        raise OpenworldError(
            f"{source.name} has no labels; the source needs labelled base images that the learner was not trained on: "
            "columns side and label, as `openworld predict ... --labelled --out` writes them."
        )
    rows = np.flatnonzero(labels.base & labels.named & (labels.label >= 0))
    if len(rows) < LEAST:
        raise OpenworldError(
            f"{source.name} has {len(rows)} labelled base image(s), and at least {LEAST} are needed, better 200; label "
            f"{LEAST - len(rows)} more that the learner was not trained on."
        )
    others = len(source) - len(rows)
    unused = f"{others:,} images of {source.name} are of new classes or not labelled, and are not used"
    return rows, [unused] if others else []


def true_numbers(stream: OpenWorldStream) -> dict[str, float | None]:
    """Return what the labels of a stream say, all of whose images have one."""
    labels = stream.labels
    joint = None if stream.joint_prediction is None else labels.label == stream.joint_prediction
    found = soft_openworld_auc(stream.scores, labels.base_right, labels.new_right, labels.base, right=joint)
    numbers = {quantity: found.value_of(quantity) for quantity in QUANTITIES if quantity != "new_share"}
    share = found.base_share
    return numbers | {"new_share": None if share is None else 1 - share}
