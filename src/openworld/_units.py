"""Names by which units know their functions: a finished unit stays finished when its code moves to another file.

The key of a unit holds the name and the version of its algorithm, never where the function lies.
"""

_EVALUATIONS = "openworld.evaluations"

EVALUATIONS = {
    "recognition": "RecognitionSpec",
    "generalisation": "GeneralisationSpec",
    "dynamic": "DynamicSpec",
    "accuracy-estimation": "AccuracyEstimationSpec",
    "ood-detection": "OODDetectionSpec",
    "ood-benchmark": "OODBenchmarkSpec",
    "recognition-by-shift": "RecognitionByShiftSpec",
    "decomposed-zero-shot": "DecomposedZeroShotSpec",
}
"""Name -> class of its spec; its folder bears the name, with "_"."""

FUNCTIONS = {
    **{name: f"{_EVALUATIONS}.{name.replace('-', '_')}.evaluation:EVALUATION" for name in EVALUATIONS},
    "scored-predictions": "openworld.applications.score:run_unit",
    "artifact": f"{_EVALUATIONS}.artifacts:build_artifact",
    "shift-piece": "openworld.shifts.sharding:measure_piece",
}
"""Name -> "module:function"."""

_NAMES = {path: name for name, path in FUNCTIONS.items()}


def name_of(function) -> str:
    """The name of a function of ours; that of another package is known by its module."""
    path = f"{function.__module__}:{function.__name__}"
    if path not in _NAMES and path.startswith("openworld."):
        raise LookupError(f"{path} has no name in openworld._units.FUNCTIONS; list it there, so that its key can last.")
    return _NAMES.get(path, path)
