"""All rooms whose public functions are called with bad values, and what is public in them."""

import importlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

from judging import Call


@dataclass(frozen=True)
class Room:
    """name: of the package. calls_in: the file beside this one that holds CALLS, RESULTS and perhaps ELSEWHERE."""

    name: str
    calls_in: str

    @property
    def module(self) -> ModuleType:
        return importlib.import_module("openworld" if self.name == "openworld" else f"openworld.{self.name}")

    @property
    def file(self) -> ModuleType:
        return importlib.import_module(self.calls_in)

    def calls(self) -> Mapping[str, Call]:
        return self.file.CALLS

    def public(self) -> set[str]:
        """Functions, classes, and methods with arguments of classes that functions return; a Protocol is none."""
        found = {name: getattr(self.module, name) for name in self.module.__all__}
        return {name for name, one in found.items() if callable(one) and not getattr(one, "_is_protocol", False)}

    def answered_for(self) -> set[str]:
        """Enrolled, or named as something that needs no call of its own."""
        enrolled = {name.split(" ")[0] for name in self.calls()}
        return enrolled | set(self.file.RESULTS) | set(getattr(self.file, "ELSEWHERE", {}))

    def forgotten_arguments(self) -> set[str]:
        """Arguments of functions that are called by themselves, which no call changes."""
        missing = set()
        for name, call in self.calls().items():
            if inspect.getmodule(inspect.unwrap(call.function)) is not self.file:
                known = {
                    one
                    for one, what in inspect.signature(call.function).parameters.items()
                    if what.kind != what.VAR_KEYWORD
                }
                missing |= {f"{name}({one})" for one in known - set(call.given)}
        return missing


ROOMS = {
    "metrics": Room("metrics", "metric_calls"),
    "estimators": Room("estimators", "estimator_calls"),
    "detectors": Room("detectors", "detector_calls"),
    "shifts": Room("shifts", "shift_calls"),
    "learners": Room("learners", "learner_calls"),
    "results": Room("results", "result_calls"),
    "features": Room("features", "feature_calls"),
    "classifiers": Room("classifiers", "classifier_calls"),
    "backbones": Room("backbones", "backbone_calls"),
    "datasets": Room("datasets", "dataset_calls"),
    "runs": Room("runs", "run_calls"),
    "labels": Room("labels", "label_calls"),
    "openworld": Room("openworld", "front_calls"),
}
