"""The papers' evaluations, one folder each, and what they share.

The module that holds an evaluation's spec also holds `tasks`, `fingerprints`, `units`, `run_unit` and `summary` of it,
and perhaps `preparations`, where more is to be done before the units than encoding. An evaluation of another package
(a spec class under the entry point group "openworld.evaluations") may have `class_lists(spec)` and `data_of(spec)`
beside these (see `class_lists`), and `REPORT`, the name of a module that tells of its runs (see `openworld.cli`).

All of it is imported when it is first asked for: naming an evaluation needs no torch.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from openworld._errors import unknown_name
from openworld._plugins import Plugins

EVALUATIONS = {
    "recognition": "recognition.task:RecognitionSpec",
    "generalisation": "generalisation.spec:GeneralisationSpec",
    "dynamic": "dynamic.spec:DynamicSpec",
    "accuracy-estimation": "accuracy_estimation.spec:AccuracyEstimationSpec",
    "ood-detection": "ood_detection.spec:IncrementalShiftSpec",
    "recognition-by-shift": "recognition_by_shift.spec:OpenWorldShiftSpec",
    "decomposed-zero-shot": "decomposed_zero_shot.task:DecomposedZeroShotSpec",
}
"""Name -> module and class of the spec, below this package."""

FORMER_NAMES = {"incremental-shift": "ood-detection", "open-world-by-shift": "recognition-by-shift"}
"""Names that specs may still say; run folders and records say these for good."""

_SPECS = {place.partition(":")[2]: name for name, place in EVALUATIONS.items()}

__all__ = (
    "EVALUATIONS",
    "FORMER_NAMES",
    "all_evaluations",
    "find_evaluation",
    "module_of",
    "read_protocol",
    "stages_of",
    *_SPECS,
)


def __getattr__(name: str):
    if name in _SPECS:
        return _ours(_SPECS[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def find_evaluation(name: str) -> type:
    """The spec class of an evaluation: one of `EVALUATIONS`, by its present or its former name, or a plug-in.

    Raises:
        OpenworldError: an unknown name (lists the known ones and the nearest spelling), or a plug-in that cannot be
            loaded.
    """
    name = FORMER_NAMES.get(name, name)
    if name in EVALUATIONS:
        return _ours(name)
    if name not in PLUGINS.offered():
        raise unknown_name("protocol", name, [*EVALUATIONS, *PLUGINS.offered()])
    return PLUGINS.find(name)


def all_evaluations() -> dict[str, type]:
    """Name -> spec class of every evaluation, plug-ins that can be loaded included."""
    return PLUGINS.all()


def read_protocol(source: Path | str | Mapping[str, Any]):
    """The checked spec of a file or mapping, of the class that its key `protocol` names; recognition without one.

    Raises:
        OpenworldError: an unknown protocol, and what `read_spec` raises.
    """
    from openworld.runs import read_given, read_spec

    return read_spec(source, find_evaluation(str(read_given(source).get("protocol", "recognition"))))


def module_of(spec) -> ModuleType:
    """The module of an evaluation that a spec belongs to."""
    return import_module(type(spec).__module__)


def stages_of(spec, machine) -> tuple:
    """The stages before the units of a spec: encoding what its tasks read, unless its evaluation says otherwise."""
    module = module_of(spec)
    if hasattr(module, "preparations"):
        return module.preparations(spec, machine)
    from openworld.evaluations.encoding import EncodingStage

    return (EncodingStage(module.tasks(spec), machine),)


def _ours(name: str) -> type:
    module, _, spec = EVALUATIONS[name].partition(":")
    return getattr(import_module(f"{__name__}.{module}"), spec)


PLUGINS = Plugins("evaluation", ("protocol",), lambda: {name: _ours(name) for name in EVALUATIONS}, "protocol")
