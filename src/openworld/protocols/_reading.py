"""Every protocol by name, the spec of a file, and what is done for it before its units."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from openworld._errors import unknown_name
from openworld.protocols._encoding import encoding
from openworld.protocols._stages import Stage
from openworld.protocols._workbench import Machine
from openworld.protocols.accuracy_estimation import AccuracyEstimationSpec
from openworld.protocols.decomposed_zero_shot import DecomposedZeroShotSpec
from openworld.protocols.dynamic import DynamicSpec
from openworld.protocols.generalisation import GeneralisationSpec
from openworld.protocols.incremental_shift import IncrementalShiftSpec
from openworld.protocols.open_world_shift import OpenWorldShiftSpec
from openworld.protocols.recognition import RecognitionSpec
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
