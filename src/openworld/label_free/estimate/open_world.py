"""What holds of the open-world quality of a stream without a label: measured, as rows, in sentences and a layout.

Sentences say what is known: between what the share of new images lies, above what OpenworldAUC does not, on what that
rests, and which labels tell more. No OpenworldAUC is estimated: see `openworld.estimators.open_world.bounds`. Numbers
are fractions in [0, 1]; None is a number that cannot be estimated.
"""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from openworld.core.errors import OpenworldError, present
from openworld.datasets.names.forms import normalise_class_name
from openworld.estimators.open_world import SHARE_MARGIN, OpenWorldOutputs, StreamBounds, stream_bounds
from openworld.label_free.estimate.results import COUNT, IMAGES, SOURCE, TARGET
from openworld.metrics import soft_openworld_auc
from openworld.report.layout import ENTITY, METRIC, Brief, Layout, Pivot
from openworld.report.report import Report
from openworld.report.sentences import counted, listed, percent
from openworld.results import METRICS, Metric, Result, Results, Value
from openworld.results.value import value_or
from openworld.tables.stream import OpenWorldStream

QUANTITIES = ("openworld_auc", "base_accuracy", "new_accuracy", "auroc", "new_share", "overall_accuracy")
"""What labels of a stream say, where it has some."""

LABELS = 200  # images to label: `bench/quoted/open_world.py` says what they give on seven kinds of data
LEAST = 40  # labelled base images below which nothing is said: temperatures are taken from them
SAMPLE = 100_000  # images of a longer stream that are looked at, of which a share is off by .3 points at most
NO_ZERO_SHOT = (
    "the streams lack a column zero_shot (`openworld predict --out` writes it), the model that the learner was tuned "
    "from: without it neither the share of new images nor a bound can be given"
)


@dataclass(frozen=True)
class StreamQuality:
    """What `openworld estimate --open-world` says: bounds without a label, and which labels tell more."""

    results: Results  # `images` says which image set a row is of
    source: str
    target: str
    bounds: StreamBounds
    new_share: float | None  # given from outside
    labels: int  # how many images to label
    plan: str  # the command that draws them
    warnings: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)

    @property
    def unknown(self) -> tuple[str, ...]:
        return () if self.bounds.openworld_auc is not None else (self.target,)


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
    if source.labels is None:
        raise OpenworldError(
            f"{source.name} has no labels; the source needs labelled base images that the learner was not trained on: "
            "columns side and label, as `openworld predict ... --labelled --out` writes them."
        )
    labelled = np.flatnonzero(source.labels.base & source.labels.named & (source.labels.label >= 0))
    if len(labelled) < LEAST:
        raise OpenworldError(
            f"{source.name} has {len(labelled)} labelled base image(s), and at least {LEAST} are needed, better 200; "
            f"label {LEAST - len(labelled)} more that the learner was not trained on."
        )
    warnings, others = [], len(source) - len(labelled)
    if others:
        warnings.append(f"{others:,} images of {source.name} are of new classes or not labelled, and are not used")
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
    source_truth = {"base_accuracy": float(source.labels.base_right[labelled].mean())}
    truth = true_numbers(whole) if whole.labels is not None and whole.labels.named.all() else {}
    rows = []
    for place, stream, images, numbers in (
        (SOURCE, source, len(labelled), source_truth),
        (TARGET, whole, len(whole), truth),
    ):
        counts = {IMAGES: images, NAMES["base"]: len(stream.base_names), NAMES["new"]: len(stream.new_names)}
        rows += [Result("", metric, Value(count), place) for metric, count in counts.items()]
        for quantity, number in numbers.items():
            rows.append(Result("truth", CARDS[quantity], value_or(number, "its labels do not say"), place))
    results = Results("estimate", (*rows, *_of_bounds(bounds)))
    return StreamQuality(results, source.name, whole.name, bounds, new_share, labels, plan, tuple(warnings))


def outputs_of(stream: OpenWorldStream, rows: np.ndarray | None = None) -> OpenWorldOutputs:
    """Return a stream's arrays as estimators take them, with labels where rows of labelled images are chosen."""
    part = stream if rows is None else stream.rows(rows)
    labelled = rows is not None and part.labels is not None
    return OpenWorldOutputs(
        part.scores,
        base_logits=part.base_logits,
        new_logits=part.new_logits,
        logits=part.logits,
        labels=part.labels.label if labelled and part.base_logits is not None else None,
        base_right=part.labels.base_right if labelled else None,
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
    for side in ("base", "new"):
        here, other = (getattr(stream, f"{side}_names") for stream in (source, target))
        ours, theirs = (list(map(normalise_class_name, names)) for names in (here, other))
        if ours != theirs:
            odd = sorted(set(ours) ^ set(theirs))
            what = f"{odd[0]!r} is in one of the two alone" if odd else "they come in another order"
            raise OpenworldError(
                f"{source.name} has {len(here)} {side} names and {target.name} {len(other)}, not the same: {what}; "
                "write both with one learner and the same names in the same order."
            )


def true_numbers(stream: OpenWorldStream) -> dict[str, float | None]:
    """Return what the labels of a stream say, all of whose images have one."""
    labels = present(stream.labels, "the labels of a stream")
    joint = None if stream.joint_prediction is None else labels.label == stream.joint_prediction
    quality = soft_openworld_auc(stream.scores, labels.base_right, labels.new_right, labels.base, right=joint)
    numbers = {quantity: quality.value_of(quantity) for quantity in QUANTITIES if quantity != "new_share"}
    share = quality.base_share
    return numbers | {"new_share": None if share is None else 1 - share}


NEW_SHARE = Metric("new_share", "share of new", better=0)
CARDS: dict[str, Metric] = {
    quantity: NEW_SHARE if quantity == "new_share" else METRICS[quantity] for quantity in QUANTITIES
}
"""Quantity -> its metric."""
LEAST_SHARE = Metric("new_share_least", "share of new, at least", better=0)
MOST_SHARE = Metric("new_share_most", "share of new, at most", better=0)
MOST = Metric("openworld_auc_most", "OpenworldAUC, at most")
GAP = Metric("share_gap", "the two shares part by", "points", better=0)
MOVED = Metric("confidence_moved", "surer than at home by", "points", better=0, bounds=(-1.0, 1.0))
MOVED_ERROR = Metric("confidence_error", "standard error", "points", better=0)
NAMES = {side: Metric(f"{side}_names", f"{side} names", *COUNT) for side in ("base", "new")}
NO_EASIER = "the images are no easier than the source's"
SHARES = ("new_share", "share_gap", "confidence_moved", "confidence_error")
WAYS = {"probabilities": "of zero-shot", "scores": "of the learner", "truth": "labels, which were not looked at"}


LAYOUT = Layout(
    "Open-world quality, without labels",
    "",
    (
        Pivot(
            name="bounds",
            title="What holds without labels",
            metrics=("openworld_auc_most", "new_share_least", "new_share_most"),
            of=TARGET,
            label="by",
            note="Without labels nothing bounds OpenworldAUC from below.",
        ),
        Pivot(name="shares", title="On what it rests", metrics=SHARES, of=TARGET, label="by", terminal=True),
        Pivot(
            name="sets",
            title="Source and target",
            rows=("images",),
            columns=(METRIC, ENTITY),
            metrics=("images", "base_names", "new_names", *(own for own in QUANTITIES if own != "new_share")),
            label="set",
        ),
    ),
)


def report(quality: StreamQuality) -> Report:
    """Return all that is to be said of the open-world quality of a stream."""
    counts = {row.metric: int(row.value.value or 0) for row in quality.results.where(images="target")}
    source = quality.results.value("", IMAGES.key, **SOURCE).value
    names = f"{counts[NAMES['base']]} base and {counts[NAMES['new']]} new names"
    brief = Brief(
        quality.results,
        subtitle=(
            f"{quality.target}: {counts[IMAGES]:,} images, {names}",
            f"source {quality.source}, {source:,} labelled base images",
        ),
        words={"shares": {"what it is": WAYS}},
        sentences=tuple(sentences(quality)),
        warnings=tuple(f"Note: {warning}." for warning in quality.warnings),
    )
    facts = {
        "source": quality.source,
        "target": quality.target,
        "labels": quality.labels,
        "plan": quality.plan,
        "given_new_share": quality.new_share,
        "unknown": list(quality.unknown),
        "warnings": list(quality.warnings),
        "made": dict(quality.made),
    }
    return LAYOUT.report(brief, made=quality.made, found=quality, facts=facts)


def _of_bounds(bounds: StreamBounds) -> Iterator[Result]:
    """Yield the bounds, and the two shares that they rest on."""
    low, high = bounds.new_share or (None, None)
    for metric, number in ((MOST, bounds.openworld_auc), (LEAST_SHARE, low), (MOST_SHARE, high)):
        yield Result("bounds", metric, value_or(number, bounds.reason), TARGET)
    if bounds.shares is not None:
        shares = bounds.shares
        by_posterior = {NEW_SHARE: shares.by_posterior, MOVED: shares.confidence_moved}
        by_posterior[MOVED_ERROR] = shares.confidence_error
        by_scores = {NEW_SHARE: shares.by_best_bin, GAP: shares.gap}
        for entity, numbers in (("probabilities", by_posterior), ("scores", by_scores)):
            yield from (Result(entity, metric, Value(number), TARGET) for metric, number in numbers.items())


def sentences(quality: StreamQuality) -> list[str]:
    """Return everything that is to be said: the bound, its premise, the share of new, signs, and which labels tell."""
    bounds, share_given = quality.bounds, quality.new_share
    images = int(present(quality.results.value("", IMAGES.key, **TARGET).value, "how many images there are"))
    of = f"{quality.target} ({counted(images, 'image')})"
    if bounds.openworld_auc is None:
        said = [f"The OpenworldAUC on {of} cannot be bounded: {bounds.reason}."]
    else:
        said = [f"OpenworldAUC on {of} is at most {percent(bounds.openworld_auc)} %, if {NO_EASIER}."]
        taken = "" if share_given is None else f" The bound takes {percent(share_given)} % of them to be new."
        said.append(f"Without labels no estimate can be given.{taken}")
    if bounds.new_share is not None:
        (low, high), two = bounds.new_share, present(bounds.shares, "the two shares")
        shares = (
            f"Between {percent(low)} and {percent(high)} % of the images are new: {percent(two.by_posterior)}"
            f" % by the probabilities of zero-shot, {percent(two.by_best_bin)} % by the learner's scores "
            f"beside the source's, and {100 * SHARE_MARGIN:.0f} points either way."
        )
        if share_given is not None and not low <= share_given <= high:
            shares += f" The share that was given, {percent(share_given)} %, lies outside."
        said.append(shares)
        parts = []
        if "shares" in two.signs:
            parts.append(f"the two shares lie {100 * two.gap:.0f} points apart")
        if "confidence" in two.signs:
            moved = present(two.confidence_moved, "by how much zero-shot moved")
            parts.append(f"zero-shot is {100 * abs(moved):.0f} points {'surer' if moved > 0 else 'less sure'}")
        if parts:  # what a sign comes from no image says
            said.append(
                f"These images score otherwise than the model's own classes at home: {listed(parts)}. New classes do "
                "that, and so does another appearance; without labels nothing separates the two."
            )
    if not len(quality.results.where(entity="truth", **TARGET)):
        reached = f"; {LABELS} labels gave it to 10 points on nine of ten streams" if quality.labels == LABELS else ""
        said.append(
            f"Labels give it: `{quality.plan}` draws {counted(quality.labels, 'image')} to label, and `openworld label "
            "read labels` then gives OpenworldAUC and its parts with intervals that hold whatever the images "
            f"are{reached}."
        )
    return said
