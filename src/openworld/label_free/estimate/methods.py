"""Which estimators can be had, given what the scores hold."""

from openworld._errors import OpenworldError
from openworld.estimators import CBPE, GDE, FittedEstimator, Outputs, find_estimator
from openworld.estimators.calibrated_confidence import enough_images

USUAL = (
    *("two-views", "FRAP", "RAP", "COTT", "ATC-MC", "ATC-NE", "COT", "CBPE", "DoC", "AC", "IM", "ProjNorm"),
    *("GDE", "ALine-S", "ALine-D"),
)
"""What is estimated unless somebody names estimators, as far as the scores allow; CBPE with enough images a class."""

_MISSING = {
    "reference": "another model's scores on both sides: --reference NAME for images, a table `reference` in files",
    "partners": "other models' scores on both sides: --partner MODEL for images, tables `partner_1` ... in files",
}


def fit_all(names: tuple[str, ...], source: Outputs, target: Outputs) -> dict[str, FittedEstimator]:
    """Return the estimators of these names, or all usual ones that can be had, fitted on the source."""
    for name in names:
        for need in find_estimator(name).needs:
            if need not in _held(name, source, target):
                raise OpenworldError(f"{name} needs {_MISSING.get(need, need)}.")
    if not names:
        possible = [name for name in USUAL if _held(name, source, target).issuperset(find_estimator(name).needs)]
        left_out = [] if enough_images(source.n, source.classes) else [CBPE.name]
        left_out += [] if len(source.partners) > 1 else ["ALine-S", "ALine-D"]  # a line has two ends
        names = tuple(name for name in possible if name not in left_out)
    return {name: find_estimator(name)().fit(source) for name in names}


def _held(name: str, source: Outputs, target: Outputs) -> set[str]:
    """Return what the scores hold of the needs of an estimator; GDE learns nothing of the source's partners."""
    reference = source.reference is not None and target.reference is not None
    partners = bool(target.partners) and (bool(source.partners) or name == GDE.name)
    return {"labels", *["reference"] * reference, *["partners"] * partners}
