"""A unit of work: which function, on which arguments and inputs, and the key that stands for all of that."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.runs.canonical import digest, to_json
from openworld.runs.unit_names import FUNCTIONS

_FUNCTION = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


@checked
@dataclass(frozen=True)
class UnitResult:
    """What the function of a unit returns.

    outputs: {table: {column: array or list}}, columns of one table equally long; arrays [N] or [N, C].
    metrics: anything JSON can hold; NaN is refused: an undefined number is None with a reason beside it.
    attachments: {relative name: bytes}, such as thumbnails.
    timing: what may differ between two runs (device, threads, seconds per stage); kept out of the hashes.
    """

    outputs: Mapping[str, Mapping[str, np.ndarray | list]] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    attachments: Mapping[str, bytes] = field(default_factory=dict)
    timing: Mapping[str, Any] = field(default_factory=dict)

    __repr__ = short_repr


@checked
@dataclass(frozen=True)
class Unit:
    """One piece of a run: `function(**arguments, **resources)`, plus `inputs=` where there are any.

    function: a name of `runs.unit_names.FUNCTIONS`, or "package.module:name" of another package's plain function; it
    returns a UnitResult.
    arguments: what to compute, JSON; part of the key.
    inputs: {what: fingerprint} of the weights and data it reads; part of the key.
    version: version of the algorithm, raised when its numbers change; part of the key.
    name: what people call it, one of a kind in its run; not part of the key (default: from the function).
    resources: where and how on this machine (cache folder, device), JSON; not part of the key.
    effort: numbers that sort units by how long they take, such as (steps of training,); not part of the key.

    >>> unit = Unit("math:sqrt", {"x": 2}, name="root")
    >>> unit.key == Unit("math:sqrt", {"x": 2}, name="another name").key
    True
    >>> unit.key == Unit("math:sqrt", {"x": 2}, version=2).key
    False
    """

    function: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    version: int = 1
    name: str = field(default="", compare=False)
    resources: Mapping[str, Any] = field(default_factory=dict, compare=False)
    effort: tuple[float, ...] = field(default=(), compare=False)

    __repr__ = short_repr

    def __post_init__(self):
        if self.function not in FUNCTIONS and not _FUNCTION.fullmatch(self.function):
            raise OpenworldError(f"unit function {self.function!r} must look like 'package.module:name'.")
        for part in ("arguments", "inputs", "resources"):
            object.__setattr__(self, part, to_json(getattr(self, part), part))
        shared = sorted(set(self.arguments) & set(self.resources))
        if shared:
            raise OpenworldError(f"{', '.join(shared)} came as argument and as resource of one unit; choose one.")
        if not self.name:
            object.__setattr__(self, "name", f"{self.function} {self.key[:8]}")

    def __hash__(self) -> int:
        return hash(self.key)

    @cached_property
    def key(self) -> str:
        """SHA-256 of everything that decides the result: 64 hexadecimal digits."""
        return digest(self.identity())

    def on(self, device: str) -> "Unit":
        """Return the same unit, to be computed on another device: its resource "machine" names that one."""
        machine = {**self.resources["machine"], "device": device}
        return replace(self, resources={**self.resources, "machine": machine})

    def identity(self) -> dict[str, Any]:
        """What the key is the hash of: function, arguments, inputs, version."""
        return {part: getattr(self, part) for part in ("function", "arguments", "inputs", "version")}

    def resolve(self) -> Callable[..., UnitResult]:
        """The function itself; raises OpenworldError when its module or its name does not exist."""
        module_name, name = FUNCTIONS.get(self.function, self.function).split(":")
        try:
            module = import_module(module_name)
        except ModuleNotFoundError as error:
            raise OpenworldError(f"cannot import {module_name} ({error}).") from error
        function = getattr(module, name, None)
        if not callable(function):
            options = [option for option, entry in vars(module).items() if callable(entry) and option[0] != "_"]
            raise unknown_name(f"function of {module_name}", name, options)
        return function

    def run(self) -> UnitResult:
        """Call the function, here and now."""
        given = {"inputs": self.inputs} if self.inputs else {}
        result = self.resolve()(**self.arguments, **self.resources, **given)
        if not isinstance(result, UnitResult):
            raise OpenworldError(f"{self.function} returned a {type(result).__name__}, expected a UnitResult.")
        return result
