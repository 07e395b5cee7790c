"""Which of several estimates to quote, by rules that are fixed beforehand and look at no target label.

No estimator is best everywhere. Over the 18 rows of FRAP's Table 1 the mean absolute errors are FRAP 6.5 (CLIP) and
7.3 (SigLIP), COTT 6.7, COT 7.7, ATC-MC 8.4, ATC-NE 8.5, ProjNorm 10.5, AC 12.3, DoC 12.7, IM 14.0 and GDE 14.9
points; the order here is theirs, each method taken only where what it rests on is there.

FRAP is passed over where the judged model and the reference, which agreed on the source, hardly do any more: the fusion
then leans on whichever is the more certain, which on pictures unlike any it was trained on is the judged model.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from openworld._types import checked
from openworld.estimators._threshold import FEW as FEW_MISTAKES
from openworld.estimators.estimate import Estimate

A_CLASS = 5  # target images a class from which COT and COTT are quoted: the bias, about 0.15 C / n, is then 3 points
KEPT = 0.5  # share of the agreement on the source below which the reference and the judged model hardly agree


@dataclass(frozen=True)
class Choice:
    """The name of an estimate, and in a sentence why it is the one."""

    name: str
    why: str


@checked
def choose(estimates: Mapping[str, Estimate], classes: int, kept: float = 1.0) -> Choice | None:
    """The estimate to quote; None where no accuracy could be estimated.

    Args:
        estimates: of one target, by the estimators' names. classes: C. kept: agreement of the judged model and the
            reference on the target over that on the source; 1 where there is no reference.

    >>> few = {"n_target": 20, "mistakes": 30}
    >>> choose({"COTT": Estimate.of(0.3, details=few), "ATC-MC": Estimate.of(0.2, details=few)}, 10).name
    'ATC-MC'
    """
    known = {name: one for name, one in estimates.items() if one.accuracy is not None}
    passed_over = "FRAP" in known and kept < KEPT
    for name, fits, why in RULES[passed_over:]:
        if name in known and fits(known[name], classes):
            return Choice(name, f"{why}; FRAP is passed over, for {_ALONE}" if passed_over else why)
    return Choice(next(iter(known)), "nothing better was asked for") if known else None


_ALONE = "judged model and reference hardly agree any more"


def _informed(found: Estimate, classes: int) -> bool:
    return _enough_mistakes(found, classes) and found.details.get("informative", True)


def _enough_mistakes(found: Estimate, classes: int) -> bool:
    return (found.details.get("mistakes") or 0) >= FEW_MISTAKES


def _enough_images(found: Estimate, classes: int) -> bool:
    return found.details["n_target"] >= A_CLASS * classes


def _both(found: Estimate, classes: int) -> bool:
    return _enough_mistakes(found, classes) and _enough_images(found, classes)


RULES: tuple[tuple[str, Callable[[Estimate, int], bool], str], ...] = (
    ("FRAP", _informed, "a second model looks at the same images, and over the published benchmarks this errs least"),
    ("COTT", _both, "of what needs the judged model alone, this errs least over the published benchmarks"),
    (
        "ATC-MC",
        _enough_mistakes,
        f"with fewer than {A_CLASS} images a class transport is biased, and of the rest this errs least over the "
        "published benchmarks",
    ),
    (
        "COT",
        _enough_images,
        f"with fewer than {FEW_MISTAKES} mistakes on the source a threshold is noise, and of what needs none this errs "
        "least over the published benchmarks",
    ),
    (
        "AC",
        lambda found, classes: True,
        f"with fewer than {FEW_MISTAKES} mistakes on the source and {A_CLASS} images a class nothing finer can be "
        "trusted",
    ),
)
