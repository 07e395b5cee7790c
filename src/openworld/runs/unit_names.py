"""Names by which units know their functions: a finished unit stays finished when its code moves to another file.

The key of a unit holds the name and the version of its algorithm, never where the function lies.
"""

_FOLDERS = {
    "accuracy-estimation": "label_free.benchmark",
    "ood-detection": "ood.by_shift",
    "ood-benchmark": "ood.benchmark",
}
"""Name of an evaluation -> its folder, where that is not the folder of its name in `evaluations`."""

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
"""Name -> class of its spec."""


def folder_of(name: str) -> str:
    """Return the package of an evaluation, dotted."""
    return f"openworld.{_FOLDERS.get(name, 'evaluations.' + name.replace('-', '_'))}"


FUNCTIONS = {
    **{name: f"{folder_of(name)}.evaluation:EVALUATION" for name in EVALUATIONS},
    "scored-predictions": "openworld.own_data.score:run_unit",
    "artifact": "openworld.evaluations.artifacts:build_artifact",
    "shift-piece": "openworld.shifts.sharding:measure_piece",
}
"""Name -> "module:function"."""

_NAMES = {path: name for name, path in FUNCTIONS.items()}


def name_of(function) -> str:
    """The name of a function of ours; that of another package is known by its module."""
    path = f"{function.__module__}:{function.__name__}"
    if path not in _NAMES and path.startswith("openworld."):
        raise LookupError(f"{path} has no name in runs.unit_names.FUNCTIONS; list it there, so that its key can last.")
    return _NAMES.get(path, path)
