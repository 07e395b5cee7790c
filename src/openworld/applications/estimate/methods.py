"""Which estimators can be asked, given what the scores hold; and what is to be said of that."""

from openworld._errors import OpenworldError
from openworld.estimators import CBPE, GDE, FittedEstimator, Outputs, check_reference, find_estimator
from openworld.estimators.calibrated_confidence import enough_images

USUAL = (
    *("two-views", "FRAP", "RAP", "COTT", "ATC-MC", "ATC-NE", "COT", "CBPE", "DoC", "AC", "IM", "ProjNorm"),
    *("GDE", "ALine-S", "ALine-D"),
)
"""What is asked unless somebody names estimators, as far as the scores allow; CBPE with enough images a class."""

UNEQUAL = 0.1  # by how much the partner of GDE may differ in accuracy before that is said
_MISSING = {
    "reference": "another model's scores on both sides: --reference NAME for pictures, a table `reference` in files",
    "partners": "other models' scores on both sides: --partner MODEL for pictures, tables `partner_1` ... in files",
}


def fit_all(names: tuple[str, ...], source: Outputs, target: Outputs) -> dict[str, FittedEstimator]:
    """The estimators of these names, or all usual ones that can be had, fitted on the source.

    Raises:
        OpenworldError: one that was named needs what the scores do not hold.
    """
    for name in names:
        for need in find_estimator(name).needs:
            if need not in _held(name, source, target):
                raise OpenworldError(f"{name} needs {_MISSING.get(need, need)}.")
    return {name: find_estimator(name)().fit(source) for name in names or _possible(source, target)}


def reference_warnings(source: Outputs, target: Outputs) -> tuple[str, ...]:
    """What is to be said of the reference: missing on one side, or not fit to stand in for labels."""
    there = {"source": source.reference is not None, "target": target.reference is not None}
    if len(set(there.values())) > 1:
        lacking = next(side for side, has in there.items() if not has)
        return (f"the {lacking} has no reference, which two views and FRAP need of both: they are left out",)
    if source.reference is None:
        return ()
    return check_reference(source).warnings


def partner_warnings(source: Outputs, target: Outputs) -> tuple[str, ...]:
    """Whether the first partner is so much weaker or stronger that its disagreement says little of the judged model."""
    if not source.partners or not target.partners:
        return ()
    own, other = (
        float((table.argmax(axis=1) == source.labels).mean()) for table in (source.logits, source.partners[0])
    )
    if abs(own - other) <= UNEQUAL:
        return ()
    return (
        f"the first partner names {other:.1%} of the source right and the judged model {own:.1%}: GDE compares models "
        "of one recipe, and finds too low an accuracy with a weaker one",
    )


def score_only(name: str) -> bool:
    """Whether an estimator orders sets by accuracy and needs labelled shifted sets to tell one.

    >>> score_only("MaNo"), score_only("AC")
    (True, False)
    """
    return hasattr(find_estimator(name), "score")


def _possible(source: Outputs, target: Outputs) -> list[str]:
    lines = len(source.partners) > 1  # a line has two ends
    can = [name for name in USUAL if _held(name, source, target).issuperset(find_estimator(name).needs)]
    if not enough_images(source.n, source.classes):
        can = [name for name in can if name != CBPE.name]
    return [name for name in can if lines or "ALine" not in name]


def _held(name: str, source: Outputs, target: Outputs) -> set[str]:
    """What the scores hold of the needs of an estimator; GDE learns nothing of the source's partners."""
    reference = source.reference is not None and target.reference is not None
    partners = bool(target.partners) and (bool(source.partners) or name == GDE.name)
    return {name for name, there in {"labels": True, "reference": reference, "partners": partners}.items() if there}
