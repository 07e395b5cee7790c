"""From two streams to what holds of the second without a label: labelled base images, and images of unknown sides."""

import shlex
from dataclasses import dataclass

import numpy as np

from openworld._arrays import require_fraction
from openworld._errors import OpenworldError
from openworld.applications.estimate.open_world.stream_quality import LABELS, QUANTITIES, StreamFacts, StreamQuality
from openworld.applications.open_world_stream import OpenWorldStream
from openworld.datasets.names.forms import normalise_class_name
from openworld.estimators.open_world import OpenWorldOutputs, stream_bounds
from openworld.metrics import soft_openworld_auc

LEAST = 40
"""Labelled base images below which nothing is said: temperatures are taken from them."""

SAMPLE = 100_000
"""Images of a longer stream that are looked at: a uniform sample, of which a share is off by .3 points at most."""

NO_ZERO_SHOT = (
    "the streams lack a column zero_shot (`openworld predict --out` writes it), the model that the learner was tuned "
    "from: without it neither the share of new images nor a bound is told"
)


@dataclass(frozen=True)
class OpenWorldOptions:
    """What is wanted.

    Args:
        new_share: of new images in the stream, in (0, 1), where it is known from elsewhere; else None.
        seed: of samples.
        base_names: the file of base names that `openworld label plan` is to be given too; "" for none.
    """

    new_share: float | None = None
    seed: int = 0
    base_names: str = ""

    def __post_init__(self):
        require_fraction(new_share=self.new_share)


NO_OPTIONS = OpenWorldOptions()


def measure_quality(
    source: OpenWorldStream, target: OpenWorldStream, options: OpenWorldOptions = NO_OPTIONS, path: str = ""
) -> StreamQuality:
    """Return what holds of a stream.

    Args:
        source: with labels of base images that the learner was not trained on; its other images are not looked at.
        target: of the same learner, with the same names. Labels, where it has some, are only compared with.
        path: of the target's file, for the command that plans labels; left out, the stream's name.

    Raises:
        OpenworldError: other names, no labelled base image or too few.
    """
    require_same_names(source, target)
    kept, warnings = _labelled_base(source)
    whole, rows = target, _sample(len(target), SAMPLE, options.seed)
    if len(rows) < len(whole):
        warnings.append(f"of {len(whole):,} images of {whole.name} a uniform sample of {len(rows):,} is used")
        target = whole.rows(rows)
    if target.reference_kind != "zero-shot":
        warnings.append(NO_ZERO_SHOT)
    bounds = stream_bounds(outputs_of(source, kept), outputs_of(target), options.new_share)
    labels = min(LABELS, len(whole))
    plan = f"openworld label plan {shlex.quote(path or whole.name)} --out labels --n {labels}"
    plan += f" --base-names {shlex.quote(options.base_names)}" if options.base_names else ""
    return StreamQuality(
        _facts(source, kept), _facts(whole), bounds, options.new_share, labels, plan, warnings=tuple(warnings)
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
