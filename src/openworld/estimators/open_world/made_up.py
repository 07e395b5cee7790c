"""How far an estimator is off on streams that are made up of labelled base images alone.

Base classes are cut at random into pseudo base and pseudo new ones; half of the images of pseudo base classes stay for
validation, the others and those of pseudo new classes are the stream, of which everything is known. The errors
are no interval of an estimate on a stream of yours: all of these images are at home, and a learner that was tuned on
base classes was tuned on the pseudo new ones too. For such a learner they even rank estimators wrongly. On streams of
the embedded world the own estimate of CoOp was off by 50 points and on made-up ones by 4; positive-unlabelled, whose
reference was not tuned on them, by 2 and by 28. For zero-shot models they show what chance and small numbers do.
"""

from dataclasses import dataclass

import numpy as np

from openworld._arrays import ArrayLike, as_fractions, require_at_least
from openworld._errors import OpenworldError
from openworld._types import checked
from openworld.estimators.open_world.engine.fitted import (
    FEWEST_IMAGES,
    FEWEST_LABELLED,
    NUMBERS,
    OpenWorldEstimator,
)
from openworld.estimators.open_world.engine.outputs import OpenWorldOutputs
from openworld.metrics import soft_openworld_auc

SHARES = (0.3, 0.5, 0.7)
CAUTION = (
    "Made-up streams hold base classes alone: of a learner that was tuned on them they say too little or too much. "
    "They are no interval."
)
"""What is to stand beside a table of these errors."""


@dataclass(frozen=True)
class MadeUpError:
    """One number on one made-up stream: estimated (None where refused) and true, fractions in [0, 1]."""

    draw: int
    new_share: float
    n: int
    quantity: str
    estimated: float | None
    true: float | None

    @property
    def error(self) -> float | None:
        """Estimated minus true; None where either is."""
        return None if self.estimated is None or self.true is None else self.estimated - self.true


@checked
def made_up_streams(
    estimator: OpenWorldEstimator,
    validation: OpenWorldOutputs,
    *,
    shares: ArrayLike = SHARES,
    draws: int = 10,
    seed: int = 0,
) -> list[MadeUpError]:
    """Estimate made-up streams, and compare with what they are.

    Args:
        estimator: not yet fitted.
        validation: labelled images of base classes at home, with logits.
        shares: of pseudo new images, each in (0, 1).
        draws: how often the classes are cut.
    Returns:
        A row for each draw, share and number of `NUMBERS`.
    Raises:
        OpenworldError: fewer than 4 base classes, or too few images for a validation half.

    >>> import numpy as np
    >>> from openworld.estimators.open_world import Mixture
    >>> sure = OpenWorldOutputs(logits=np.tile(9 * np.eye(9)[:8], (50, 1)), n_base=8, labels=list(range(8)) * 50)
    >>> rows = made_up_streams(Mixture(), sure, draws=2)  # 2 draws of 3 shares, 6 numbers each
    >>> len(rows), {row.true for row in rows if row.quantity == "auroc"}
    (36, {1.0})
    """
    validation.require(("labels", "logits"), "a made-up stream")
    require_at_least(1, draws=draws)
    if validation.n_base < 4:
        raise OpenworldError(f"{validation.n_base} base classes cannot be cut into two sorts; give four or more.")
    rows = []
    for draw in range(draws):
        generator = np.random.default_rng([seed, draw])
        labelled, stream = cut(validation, generator)
        fitted = estimator.fit(labelled)
        for share in as_fractions(shares, "shares"):
            drawn = stream.rows(_at_share(stream, float(share), generator))
            found, truth = fitted.estimate(drawn), true_numbers(drawn)
            rows += [
                MadeUpError(draw, float(share), drawn.n, name, found.value_of(name), truth[name]) for name in NUMBERS
            ]
    return rows


def cut(validation: OpenWorldOutputs, generator: np.random.Generator) -> tuple[OpenWorldOutputs, OpenWorldOutputs]:
    """Return labelled pseudo base images, and the stream of the others, with labels, from one cut of the classes."""
    classes = generator.permutation(validation.n_base)
    base = np.sort(classes[: (validation.n_base + 1) // 2])
    order = np.concatenate([base, np.sort(classes[len(base) :])])
    place = np.argsort(order)
    rows = generator.permutation(np.flatnonzero(np.isin(validation.labels, base)))
    labelled = np.sort(rows[: len(rows) // 2])
    if len(labelled) < FEWEST_LABELLED:
        needed = 4 * FEWEST_LABELLED - validation.n
        raise OpenworldError(
            f"{validation.n} labelled base images leave {len(labelled)} for validation where classes are cut; give "
            f"about {max(1, needed)} more."
        )

    def of(rows: np.ndarray) -> OpenWorldOutputs:
        logits = validation.base_logits[rows][:, order]
        reference = None if validation.reference is None else validation.reference[rows][:, order]
        labels = place[validation.labels[rows]]
        kind = validation.reference_kind
        return OpenWorldOutputs(
            logits=logits, n_base=len(base), labels=labels, reference=reference, reference_kind=kind
        )

    return of(labelled), of(np.setdiff1d(np.arange(validation.n), labelled))


def true_numbers(stream: OpenWorldOutputs) -> dict[str, float | None]:
    """Return every number of `NUMBERS` of a stream whose labels are known."""
    stream.require(("labels", "logits"), "a true number")
    base = (stream.labels < stream.n_base).astype(np.float64)
    right = stream.joint_prediction == stream.labels
    named = base * (stream.base_prediction == stream.labels), (1 - base) * (stream.new_prediction == stream.labels)
    soft = soft_openworld_auc(stream.scores, *named, base, right=right)
    found = {name: soft.value_of(name) for name in NUMBERS if name != "new_share"}
    return found | {"new_share": 1 - soft.base_share}


def _at_share(stream: OpenWorldOutputs, share: float, generator: np.random.Generator) -> np.ndarray:
    """As many images as there are for this share of new ones, at random."""
    base, new = (generator.permutation(np.flatnonzero(side)) for side in _sides(stream))
    n = int(min(len(base) / (1 - share), len(new) / share)) if 0 < share < 1 else 0
    if n < FEWEST_IMAGES:
        raise OpenworldError(
            f"a made-up stream with {100 * share:.0f} % new images would have {n}, and {FEWEST_IMAGES} are needed; "
            "give more labelled base images, or a share nearer to a half."
        )
    n_new = round(n * share)
    return np.concatenate([base[: n - n_new], new[:n_new]])


def _sides(stream: OpenWorldOutputs) -> tuple[np.ndarray, np.ndarray]:
    return stream.labels < stream.n_base, stream.labels >= stream.n_base
