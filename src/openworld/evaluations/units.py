"""Units of work of the evaluations: a function by its name, its frozen arguments, and the machine it gets."""

from collections.abc import Callable, Mapping
from dataclasses import asdict

from openworld._units import name_of
from openworld.evaluations.runtime import Machine
from openworld.runs import Unit


def task_unit(
    function: Callable, task, inputs: Mapping[str, str], version: int, machine: Machine, effort: tuple[float, ...] = ()
) -> Unit:
    """A unit that judges: its record is kept, and its key changes with task, inputs and version.

    Args:
        function: takes (task, machine, inputs) as JSON knows them. task: frozen dataclass with a `name`.
        inputs: fingerprints of all it reads. version: of the algorithm. effort: see `Unit`.
    """
    return Unit(
        function=name_of(function),
        arguments={"task": asdict(task)},
        inputs=inputs,
        version=version,
        name=task.name,
        resources={"machine": asdict(machine)},
        effort=effort,
    )


def stage_unit(function: Callable, arguments: Mapping, name: str, machine: Machine) -> Unit:
    """A unit of a preparatory stage: what it makes goes into the cache.

    Args:
        function: takes the arguments, as JSON knows them, and machine.
    """
    return Unit(function=name_of(function), arguments=arguments, name=name, resources={"machine": asdict(machine)})
