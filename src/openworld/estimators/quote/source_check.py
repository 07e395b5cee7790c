"""What the scores themselves tell of a source that will not do: images on both sides, repeats, hardly a mistake.

Every estimator takes it that the source is a fair sample of what the model had not seen. That a source was trained on
and is still named wrong now and then cannot be told from scores: a model is surer there than on other images, and so
it is where the target has shifted.
"""

from dataclasses import dataclass

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.types import checked
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.threshold import FEW
from openworld.metrics import wilson_interval
from openworld.tables.probabilities import are_probabilities

SHARE = 0.01  # of the images that share their scores from which that is said
SOFTMAX = 0.05  # of the rows of logits that look like a softmax from which they are none
LEARNED = 0.01  # upper end of the interval of the source's error below which hardly anything is left to learn from
FEW_CLASSES, MANY_CLASSES = 4, 10  # from which rows of fine numbers, and of coarse ones, are not equal by chance
FINE = 0.9  # share of different numbers among scores from which they are fine
CLOSE = 1e-4  # of the scores' standard deviation: what batches and devices change of the scores of one image


@dataclass(frozen=True)
class SourceCheck:
    """What was found.

    n, mistakes: source images, and how many of them the judged model names wrong. repeated: source images whose scores
    another one has. n_target: target images, 0 without a target. shared: target images whose scores a source image has.
    softmax: share of rows of logits that are probabilities, on the side that has more of them.
    """

    n: int
    mistakes: int
    repeated: int
    n_target: int = 0
    shared: int = 0
    softmax: float = 0.0

    @property
    def learned(self) -> bool:
        """Whether the source is named right as images are that a model was trained on."""
        return self.mistakes < FEW and wilson_interval(self.mistakes / self.n, self.n)[1] < LEARNED

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is suspected, and what to do; empty for a source that looks fair."""
        warnings = []
        if are_many(self.shared, self.n_target):
            warnings.append(
                f"{self.shared:,} of {self.n_target:,} target images have the very scores of a source image: the same "
                "images are on both sides; the target must be other images than the source"
            )
        if are_many(self.repeated, self.n):
            warnings.append(
                f"{self.repeated:,} of {self.n:,} source images have the very scores of another one: images that "
                "come several times tell nothing new, and make intervals too narrow; give every image once"
            )
        if self.softmax >= SOFTMAX:
            warnings.append(
                f"{100 * self.softmax:.0f} % of the rows of logits of one side hold no number below 0 and add up to 1: "
                "they are probabilities; give what the model says before the softmax, or their logarithms"
            )
        if self.learned:
            warnings.append(
                f"the model names {self.n - self.mistakes:,} of {self.n:,} source images right, which leaves "
                f"{self.mistakes} mistake(s) to learn from; images that a model was trained on look like this: take "
                "labelled images for the source that it has not been trained on"
            )
        return tuple(warnings)


@checked
def check_source(source: Outputs, target: Outputs | None = None) -> SourceCheck:
    """Look for signs that the source is not what estimators take it for.

    Rows of scores count as equal up to a constant and to what batches and devices change. Where two rows may be equal
    by chance (ties, fewer than four classes, fewer than ten with scores of few digits) nothing is counted.

    Args:
        source: with labels. target: to look for images on both sides.
    Raises:
        OpenworldError: a source without labels, a target of another number of classes.

    >>> source = Outputs(np.cos(np.arange(36)).reshape(3, 12), labels=[0, 1, 2])
    >>> check_source(source, source.take([2, 0])).shared
    2
    """
    source.require(("labels",), "the check of a source")
    if target is not None and target.classes != source.classes:
        raise OpenworldError(f"the target has {target.classes} classes and the source {source.classes}; use one model.")
    images = _images(source.logits if target is None else np.concatenate([source.logits, target.logits]))
    on_source, on_target = images[: source.n], images[source.n :]
    present = on_source[on_source >= 0]
    return SourceCheck(
        n=source.n,
        mistakes=source.mistakes,
        repeated=int((np.bincount(present)[present] > 1).sum()) if present.size else 0,
        n_target=len(on_target),
        shared=int(np.isin(on_target, present).sum()),
        softmax=max(float(are_probabilities(outputs.logits).mean()) for outputs in (source, target or source)),
    )


def _images(logits: np.ndarray) -> np.ndarray:
    """Numbers int64[n], the same for rows that are equal up to a constant; -1 for rows that may be so by chance."""
    images = np.full(len(logits), -1)
    telling = np.flatnonzero((np.diff(np.sort(logits, axis=1), axis=1) > 0).all(axis=1))
    if not telling.size:
        return images
    rows = logits[telling] - logits[telling].mean(axis=1, keepdims=True)
    # Equal rows lie beside one another along any direction; this one has no two equal entries.
    order = np.argsort(rows @ np.cos(np.arange(1, rows.shape[1] + 1)), kind="stable")
    steps = np.abs(np.diff(rows[order], axis=0)).max(axis=1) > CLOSE * rows.std()
    firsts = np.concatenate([[True], steps])
    # Different rows of so many classes, or of fewer with fine numbers, are as good as never equal by chance.
    classes, different = rows.shape[1], logits[telling[order[firsts]]]
    fine = classes >= FEW_CLASSES and len(np.unique(different)) >= FINE * different.size
    if classes >= MANY_CLASSES or fine:
        images[telling[order]] = np.cumsum(firsts)
    return images


def are_many(count: int, n: int) -> bool:
    """Return whether so many of n images are worth a word: two of them or more, and one in a hundred."""
    return count > 1 and count >= SHARE * n
