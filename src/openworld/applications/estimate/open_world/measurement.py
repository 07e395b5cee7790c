"""From two streams to what every premise makes of the second: labelled base images, and images of unknown sides."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from openworld._arrays import require_fraction
from openworld._errors import OpenworldError, unknown_name
from openworld._observer import SILENT, Observer
from openworld.applications.estimate.open_world.premises import (
    NO_PREMISE,
    NOT_IDENTIFIED,
    NOTHING,
    QUOTED_FIRST,
)
from openworld.applications.estimate.open_world.stream_quality import (
    QUANTITIES,
    AgainstNewShare,
    MadeUpErrors,
    NewShareByTwoWays,
    PremiseEstimate,
    StreamFacts,
    StreamQuality,
)
from openworld.applications.open_world_stream import OpenWorldStream
from openworld.datasets.names.forms import normalise_class_name
from openworld.estimators.open_world import (
    OPEN_WORLD_ESTIMATORS,
    OpenWorldOutputs,
    made_up_streams,
    two_shares,
)
from openworld.metrics import soft_openworld_auc

LEAST = 40
"""Labelled base images below which nothing is estimated: thresholds and temperatures are taken from them."""

NO_REFERENCE = (
    "the streams lack a column zero_shot (`openworld predict --out` writes it), and a learner tuned on base images "
    "is too sure of new names: without another model the estimates can be far too high"
)

SAMPLE = 100_000
"""Images of a longer stream that are looked at: a uniform sample, of which a share is off by .3 points at most."""

SHARES = tuple(share / 100 for share in (15, 20, 30, 40, 50, 60, 70, 80, 85))
MANY = 20_000
"""Images of a uniform sample on which the numbers for other shares of new are computed."""


@dataclass(frozen=True)
class OpenWorldOptions:
    """What is wanted.

    Args:
        new_share: of new images in the stream, in (0, 1), where it is known from elsewhere; else None.
        estimators: only these, by name; the first is told first. () for all.
        seed: of samples and made-up streams.
    """

    new_share: float | None = None
    estimators: tuple[str, ...] = ()
    seed: int = 0

    def __post_init__(self):
        require_fraction(new_share=self.new_share)
        for name in self.estimators:
            if name not in OPEN_WORLD_ESTIMATORS:
                raise unknown_name("open-world estimator", name, OPEN_WORLD_ESTIMATORS)


NO_OPTIONS = OpenWorldOptions()


def measure_quality(
    source: OpenWorldStream,
    target: OpenWorldStream,
    options: OpenWorldOptions = NO_OPTIONS,
    observer: Observer = SILENT,
) -> StreamQuality:
    """Return what every premise makes of a stream.

    Args:
        source: with labels of base images that the learner was not trained on; its other images are not looked at.
        target: of the same learner, with the same names. Labels, where it has some, are only compared with.

    Raises:
        OpenworldError: other names, no labelled base image or too few.
    """
    require_same_names(source, target)
    kept, warnings = _labelled_base(source)
    whole, rows = target, _sample(len(target), SAMPLE, options.seed)
    if len(rows) < len(whole):
        warnings.append(f"of {len(whole):,} images of {whole.name} a uniform sample of {len(rows):,} is used")
        target = whole.rows(rows)
    known, stream = outputs_of(source, kept), outputs_of(target)
    if known.reference is None or stream.reference is None:
        warnings.append(NO_REFERENCE)
    names = options.estimators or tuple(OPEN_WORLD_ESTIMATORS)
    fitted, premises = {}, [_nothing()]
    for place, name in enumerate(names):
        observer.progress("estimating", place, len(names))
        lacking = _lacking(name, known, stream)
        if lacking:
            premises.append(_without(name, lacking))
            continue
        try:
            fitted[name] = OPEN_WORLD_ESTIMATORS[name]().fit(known)
            premises.append(_estimate(name, fitted[name], stream, options.new_share))
        except OpenworldError as error:
            premises.append(_without(name, str(error)))
    shares = _shares(known, stream)
    answering = [
        name for name in fitted if name in {own.estimator for own in premises if own.openworld_auc is not None}
    ]
    quoted, why = _quote(
        premises, [name for name in fitted if "openworld_auc" in OPEN_WORLD_ESTIMATORS[name].gives], shares, options
    )
    return StreamQuality(
        source=_facts(source, kept),
        target=_facts(whole),
        premises=tuple(premises),
        quoted=quoted,
        why=why,
        shares=shares,
        new_share=options.new_share,
        against_new_share=tuple(_against(name, fitted[name], target, options.seed, observer) for name in answering),
        made_up=tuple(_made_up(answering, known, options.seed, observer)),
        warnings=tuple(warnings),
    )


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


def _sample(count: int, most: int, seed: int) -> np.ndarray:
    """Return the rows of a uniform sample of so many images at most, in order."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, most, replace=False))


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
    return rows, [f"{others:,} images of {source.name} are of new classes or not labelled, and are not used"] * (
        others > 0
    )


def _nothing() -> PremiseEstimate:
    return PremiseEstimate(NOTHING, NO_PREMISE, dict.fromkeys(QUANTITIES), dict.fromkeys(QUANTITIES, NOT_IDENTIFIED))


def _lacking(name: str, known: OpenWorldOutputs, stream: OpenWorldOutputs) -> str:
    """Return what of its needs an estimator lacks, in words; "" where it has all."""
    needs = OPEN_WORLD_ESTIMATORS[name].needs
    if "logits" in needs and stream.logits is None:
        return "it needs logits, and the streams hold scores and names alone"
    if "reference" in needs and (known.reference is None or stream.reference is None):
        return "it needs a column reference, similarities of another model to all names, in both streams"
    return ""


def _without(name: str, reason: str) -> PremiseEstimate:
    return PremiseEstimate(
        name, OPEN_WORLD_ESTIMATORS[name].premise, dict.fromkeys(QUANTITIES), dict.fromkeys(QUANTITIES, reason)
    )


def _estimate(name: str, fitted, stream: OpenWorldOutputs, new_share: float | None) -> PremiseEstimate:
    estimate = fitted.estimate(stream, new_share=new_share)
    numbers = {quantity: estimate.value_of(quantity) for quantity in QUANTITIES}
    reasons = {quantity: estimate.reasons.get(quantity, "the premise does not give it") for quantity in QUANTITIES}
    reasons = {quantity: reason for quantity, reason in reasons.items() if numbers[quantity] is None}
    details = {
        key: value for key, value in estimate.details.items() if isinstance(value, bool | int | float | str | None)
    }
    premise = OPEN_WORLD_ESTIMATORS[name].premise
    return PremiseEstimate(name, premise, numbers, reasons, tuple(estimate.warnings), details)


def _shares(known: OpenWorldOutputs, stream: OpenWorldOutputs) -> NewShareByTwoWays:
    if stream.logits is None:
        return NewShareByTwoWays(None, None, None)
    found = two_shares(known, stream)
    shares = found.by_posterior, found.by_best_bin, found.gap
    return NewShareByTwoWays(*shares, found.posterior_of, found.confidence_moved, found.signs)


def _quote(
    premises: Sequence[PremiseEstimate], able: Collection[str], shares: NewShareByTwoWays, options: OpenWorldOptions
) -> tuple[str, str]:
    """Return whose numbers are told first, and why; "" where none can be told."""
    tried = {own.estimator: own for own in premises if own.estimator in able}
    first = next((name for name in options.estimators or QUOTED_FIRST if name in tried), next(iter(tried), ""))
    if not first:
        return "", "no estimator has what it needs: " + premises[-1].reasons["openworld_auc"].rstrip(".")
    if shares.signs and (options.new_share is None or shares.alarm):
        return "", _sign(shares)
    if tried[first].openworld_auc is None:
        return "", f"by {first}, {tried[first].reasons['openworld_auc'].rstrip('.')}"
    return first, tried[first].premise


def _sign(shares: NewShareByTwoWays) -> str:
    """Return what stands against every estimate, in words."""
    parts = []
    if "shares" in shares.signs:
        parts.append(
            f"the share of new images is {100 * shares.probabilities:.0f} % by probabilities and "
            f"{100 * shares.scores:.0f} % by scores"
        )
    if "confidence" in shares.signs:
        way = "surer" if shares.confidence_moved > 0 else "less sure"
        parts.append(f"the reference is {100 * abs(shares.confidence_moved):.0f} points {way} here than on the source")
    if shares.alarm:
        return f"{', and '.join(parts)}: the images look other than the source, and the premises fail"
    return (
        f"{', and '.join(parts)}, and without another model nothing tells which is right: write both streams with "
        "`openworld predict --out`, which adds zero_shot"
    )


def _against(name: str, fitted, target: OpenWorldStream, seed: int, observer: Observer) -> AgainstNewShare:
    observer.progress("estimating at other shares of new", 0, None)
    stream = outputs_of(target.rows(_sample(len(target), MANY, seed)))
    values = tuple(estimate.openworld_auc for estimate in fitted.against_new_share(stream, SHARES))
    return AgainstNewShare(name, SHARES, values)


def _made_up(names: Sequence[str], known: OpenWorldOutputs, seed: int, observer: Observer) -> list[MadeUpErrors]:
    rows = []
    for place, name in enumerate(names):
        observer.progress("trying made-up streams", place, len(names))
        try:
            errors = made_up_streams(OPEN_WORLD_ESTIMATORS[name](), known, seed=seed)
        except OpenworldError:  # too few base classes or images to make streams of: the table then lacks the estimator
            continue
        for share in dict.fromkeys(row.new_share for row in errors):
            off = {part: [] for part in QUANTITIES}
            for row in errors:
                if row.new_share == share and row.error is not None:
                    off[row.quantity].append(row.error)
            absolute = {part: float(np.mean(np.abs(own))) if own else None for part, own in off.items()}
            bias = {part: float(np.mean(own)) if own else None for part, own in off.items()}
            count = len({row.draw for row in errors})
            rows.append(MadeUpErrors(name, float(share), count, absolute, bias))
    return rows


def _facts(stream: OpenWorldStream, rows: np.ndarray | None = None) -> StreamFacts:
    """Return the size of a stream, and what its labels say: of base images alone where only they are used."""
    labels = stream.labels
    truth: dict[str, float | None] = {}
    if rows is not None:
        truth["base_accuracy"] = float(labels.base_right[rows].mean())
    elif labels is not None and labels.named.all():
        truth = true_numbers(stream)
    count = len(stream) if rows is None else len(rows)
    return StreamFacts(stream.name, count, len(stream.base_names), len(stream.new_names), truth)


def true_numbers(stream: OpenWorldStream) -> dict[str, float | None]:
    """Return what the labels of a stream say, all of whose images have one."""
    labels = stream.labels
    joint = None if stream.joint_prediction is None else labels.label == stream.joint_prediction
    found = soft_openworld_auc(stream.scores, labels.base_right, labels.new_right, labels.base, right=joint)
    numbers = {quantity: found.value_of(quantity) for quantity in QUANTITIES if quantity != "new_share"}
    share = found.base_share
    return numbers | {"new_share": None if share is None else 1 - share}
