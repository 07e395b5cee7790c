"""What holds of the open-world quality of a stream without labels: rows, sentences and a layout.

Sentences say what is known: between what the share of new images lies, above what OpenworldAUC does not, on what that
rests, and which labels tell more. No OpenworldAUC is told: see `openworld.estimators.open_world.bounds`.
"""

from collections.abc import Iterator
from dataclasses import replace

from openworld.applications.estimate.open_world.measurement import LABELS, QUANTITIES, StreamQuality
from openworld.applications.estimate.results import COUNT, IMAGES, SOURCE, TARGET, value_of
from openworld.estimators.open_world import SHARE_MARGIN, TwoShares
from openworld.report.layout import ENTITY, METRIC, Brief, Layout, Pivot
from openworld.report.report import Report
from openworld.report.sentences import counted, listed, percent
from openworld.results import METRICS, Metric, Result, Results, Value

JSON = "estimate.json"
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
            metrics=(
                "images",
                "base_names",
                "new_names",
                *(quantity for quantity in QUANTITIES if quantity != "new_share"),
            ),
            label="set",
        ),
    ),
)


def report(quality: StreamQuality) -> Report:
    """Return all that is to be said of the open-world quality of a stream."""
    said, target, source = sentences(quality), quality.target, quality.source
    notes = tuple(f"Note: {warning}." for warning in quality.warnings)
    brief = Brief(
        results_of(quality),
        subtitle=(
            f"{target.name}: {target.images:,} images, {target.base_names} base and {target.new_names} new names",
            f"source {source.name}, {source.images:,} labelled base images",
        ),
        words={"shares": {"what it is": WAYS}},
        sentences=tuple(said),
        warnings=notes,
    )
    facts = {
        "source": source.name,
        "target": target.name,
        "labels": quality.labels,
        "plan": quality.plan,
        "given_new_share": quality.new_share,
        "untold": list(quality.unknown),
        "warnings": list(quality.warnings),
        "made": dict(quality.made),
    }
    answer = LAYOUT.report(brief, text=tuple(said[1:]), notes=notes, made=quality.made, found=quality, facts=facts)
    return replace(answer, files={JSON: answer.to_json().encode()})


def results_of(quality: StreamQuality) -> Results:
    """Return all rows; `images` says which image set a row is of."""
    rows, bounds = [], quality.bounds
    for place, facts in ((SOURCE, quality.source), (TARGET, quality.target)):
        rows.append(Result("", IMAGES, Value(facts.images), place))
        rows.append(Result("", NAMES["base"], Value(facts.base_names), place))
        rows.append(Result("", NAMES["new"], Value(facts.new_names), place))
        for quantity, value in facts.truth.items():
            rows.append(Result("truth", CARDS[quantity], value_of(value, "its labels do not say"), place))
    low, high = bounds.new_share or (None, None)
    for metric, value in ((MOST, bounds.openworld_auc), (LEAST_SHARE, low), (MOST_SHARE, high)):
        rows.append(Result("bounds", metric, value_of(value, bounds.reason), TARGET))
    if bounds.shares is not None:
        rows.append(Result("probabilities", NEW_SHARE, Value(bounds.shares.by_posterior), TARGET))
        rows.append(Result("scores", NEW_SHARE, Value(bounds.shares.by_best_bin), TARGET))
        rows.append(Result("scores", GAP, Value(bounds.shares.gap), TARGET))
        rows.append(Result("probabilities", MOVED, Value(bounds.shares.confidence_moved), TARGET))
        rows.append(Result("probabilities", MOVED_ERROR, Value(bounds.shares.confidence_error), TARGET))
    return Results("estimate", tuple(rows))


def sentences(quality: StreamQuality) -> list[str]:
    """Return everything that is to be said: the bound, its premise, the share of new, signs, and which labels tell."""
    bounds, given = quality.bounds, quality.new_share
    of = f"{quality.target.name} ({counted(quality.target.images, 'image')})"
    if bounds.openworld_auc is None:
        said = [f"The OpenworldAUC on {of} cannot be told: {bounds.reason}."]
    else:
        said = [f"OpenworldAUC on {of} is at most {percent(bounds.openworld_auc)} %, if {NO_EASIER}."]
        taken = "" if given is None else f" The bound takes {percent(given)} % of them to be new."
        said.append(f"Without labels no number can be told.{taken}")
    if bounds.new_share is not None:
        low, high = bounds.new_share
        shares = (
            f"Between {percent(low)} and {percent(high)} % of the images are new: {percent(bounds.shares.by_posterior)}"
            f" % by the probabilities of zero-shot, {percent(bounds.shares.by_best_bin)} % by the learner's scores "
            f"beside the source's, and {100 * SHARE_MARGIN:.0f} points either way."
        )
        if given is not None and not low <= given <= high:
            shares += f" The share that was given, {percent(given)} %, lies outside."
        said += [shares, *_signs(bounds.shares)]
    if not quality.target.truth:
        reached = f"; {LABELS} labels gave it to 10 points on nine of ten streams" if quality.labels == LABELS else ""
        said.append(
            f"Labels tell it: `{quality.plan}` draws {counted(quality.labels, 'image')} to label, and `openworld label "
            "read labels` then gives OpenworldAUC and its parts with intervals that hold whatever the images "
            f"are{reached}."
        )
    return said


def _signs(shares: TwoShares) -> Iterator[str]:
    """Yield how far the images score otherwise than base images at home; what that comes from no image says."""
    parts = []
    if "shares" in shares.signs:
        parts.append(f"the two shares lie {100 * shares.gap:.0f} points apart")
    if "confidence" in shares.signs:
        way = "surer" if shares.confidence_moved > 0 else "less sure"
        parts.append(f"zero-shot is {100 * abs(shares.confidence_moved):.0f} points {way}")
    if parts:
        yield (
            f"These images score otherwise than the model's own classes at home: {listed(parts)}. New classes do that, "
            "and so does another appearance; without labels nothing tells the one from the other."
        )
