"""Every protocol by name, the spec of a file, and what is done for it before its units."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from openworld._errors import unknown_name
from openworld.evaluations.accuracy_estimation.spec import AccuracyEstimationSpec
from openworld.evaluations.artifacts import Stage
from openworld.evaluations.decomposed_zero_shot.task import DecomposedZeroShotSpec
from openworld.evaluations.dynamic.spec import DynamicSpec
from openworld.evaluations.encoding import encoding
from openworld.evaluations.generalisation.spec import GeneralisationSpec
from openworld.evaluations.ood_detection.spec import IncrementalShiftSpec
from openworld.evaluations.recognition.task import RecognitionSpec
from openworld.evaluations.recognition_by_shift.spec import OpenWorldShiftSpec
from openworld.evaluations.runtime import Machine
from openworld.runs import read_given, read_spec

PROTOCOLS = {
    "recognition": RecognitionSpec,
    "generalisation": GeneralisationSpec,
    "dynamic": DynamicSpec,
    "accuracy-estimation": AccuracyEstimationSpec,
    "incremental-shift": IncrementalShiftSpec,
    "open-world-by-shift": OpenWorldShiftSpec,
    "decomposed-zero-shot": DecomposedZeroShotSpec,
}


def read_protocol(source: Path | str | Mapping[str, Any]):
    """The checked spec of a file or mapping, of the class that its key `protocol` names; recognition without one.

    Raises:
        OpenworldError: an unknown protocol, and what `read_spec` raises.
    """
    given = read_given(source)
    name = given.get("protocol", "recognition")
    if name not in PROTOCOLS:
        raise unknown_name("protocol", str(name), PROTOCOLS)
    return read_spec(source, PROTOCOLS[name])


def module_of(spec) -> ModuleType:
    """The protocol that a spec belongs to."""
    return import_module(type(spec).__module__)


def stages_of(spec, machine: Machine) -> tuple[Stage, ...]:
    """What is done before the units of a spec: encoding what its tasks read, unless its protocol says otherwise."""
    module = module_of(spec)
    if hasattr(module, "preparations"):
        return module.preparations(spec, machine)
    return (encoding(module.tasks(spec), machine),)
