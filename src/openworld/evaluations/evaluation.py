"""What an evaluation is: one object that names its parts, and is asked by all that run, list or report it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from openworld.runs import Unit, UnitResult, read_spec, to_json


class EvaluationTask(Protocol):
    """One unit's share of a spec: a frozen dataclass of what JSON can hold, which is what the unit's key is made of."""

    @property
    def name(self) -> str:
        """What people call the unit, one of a kind in its run."""


@dataclass(frozen=True)
class ClassList:
    """The names of one data set as a run meets them."""

    title: str  # data set and domain
    dataset: str  # by which its sentence is known
    names: tuple[str, ...]  # in label order, without those that the run leaves out
    base_count: int  # of the first, in every unit alike
    against: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # names of other data sets that meet these
    by_order: bool = True  # whether their order alone says which are base

    @classmethod
    def of(cls, data: Any) -> "ClassList":
        """The names of a `DatasetSpec`, cut as it says."""
        base_count = len(data.split.base)
        return cls(str(data), data.dataset, data.classnames, base_count, by_order=not data.says_classes)


@dataclass(frozen=True)
class Tuning:
    """What all learners of a run are tuned on, its base classes or all, and what they are tested on."""

    data: Any
    tested: tuple
    base_only: bool = True


def nothing(*_: Any) -> tuple:
    """Return (): what an evaluation says that has no such part."""
    return ()


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The parts of an evaluation.

    Args:
        name: as specs and the command line call it.
        spec: a frozen dataclass with a field `protocol`, which says the name; the first line of its docstring says what
            it does.
        task: the class of its tasks.
        tasks: spec -> its tasks, in the order of the tables.
        evaluate: (task, machine) -> the record of the unit: tables, metrics, attachments.
        version: of its algorithm; raise it when its numbers change.
        inputs: (task, machine) -> {what: fingerprint} of all that the task reads beside its own fields.
        artifacts: (spec, machine) -> the stages before the units (`openworld.evaluations.artifacts.Stage`).
        require: (tasks, machine) -> None; refuses what would fail in the middle of the run.
        summary: spec -> what is run on what, in a few words each.
        fingerprints: spec -> {image set: fingerprint}, for the record of where the run's numbers come from.
        data: spec -> every `DatasetSpec` that it names; those to download are looked for before anything else.
        class_lists: spec -> a `ClassList` for every data set, whose names are audited.
        backbones: spec -> names of the models that read class names.
        report: a module with `report(run)`, see `openworld.evaluations.finished_runs`; "" for none: records are shown
            as they are. Of ours it is the module `report` beside this object.
        order: (tasks, machine) -> the tasks in the order in which they are worked on.
        effort: (task, machine) -> numbers that sort tasks by how long they take; see `Unit`.
        title: (spec, task) -> what people call the unit; the task's name.
        tunings: spec -> a `Tuning` for all that learners are tuned on; None where the tasks are not learners, so that
            nobody knows what memory one needs.
        count: spec -> how many tasks it has, where that is known without its data; None to count them.
    """

    name: str
    spec: type
    task: type
    tasks: Callable[[Any], Sequence[EvaluationTask]]
    evaluate: Callable[[Any, Any], UnitResult]
    version: int = 1
    inputs: Callable[[Any, Any], Mapping[str, str]] = lambda task, machine: {}
    artifacts: Callable[[Any, Any], Iterable] = nothing
    require: Callable[[Sequence, Any], None] = nothing
    summary: Callable[[Any], Iterable[str]] = nothing
    fingerprints: Callable[[Any], Mapping[str, str]] = lambda spec: {}
    data: Callable[[Any], Iterable] = nothing
    class_lists: Callable[[Any], Iterable[ClassList]] = nothing
    backbones: Callable[[Any], Sequence[str]] = nothing
    report: str = ""
    order: Callable[[Sequence, Any], Sequence] = lambda tasks, machine: tasks
    effort: Callable[[Any, Any], tuple[float, ...]] = nothing
    title: Callable[[Any, Any], str] = lambda spec, task: task.name
    tunings: Callable[[Any], Iterable] | None = None
    count: Callable[[Any], int] | None = None

    def count_units(self, spec) -> int:
        """Return how many units a spec has."""
        return len(self.tasks(spec)) if self.count is None else self.count(spec)

    def units(self, spec, machine) -> list[Unit]:
        """Return a unit per task; its key changes with the task, what it reads, and the version of the algorithm.

        Raises:
            OpenworldError: what `require` refuses.
        """
        from openworld.evaluations import function_of

        planned = self.tasks(spec)
        self.require(planned, machine)
        return [
            Unit(
                function=function_of(self.name),
                arguments={"task": to_json(task)},
                inputs=self.inputs(task, machine),
                version=self.version,
                name=self.title(spec, task),
                resources={"machine": asdict(machine)},
                effort=self.effort(task, machine),
            )
            for task in self.order(planned, machine)
        ]

    def __call__(self, task: Mapping, machine: Mapping, inputs: Mapping[str, str] | None = None) -> UnitResult:
        """Evaluate one task: the function of a unit, which takes what JSON knows."""
        import torch

        from openworld.evaluations.runtime import Machine, require_same

        task, machine = read_spec(task, self.task), read_spec(machine, Machine)
        if hasattr(task, "threads"):
            torch.set_num_threads(task.threads)
        require_same(self.inputs(task, machine), inputs or {})
        return self.evaluate(task, machine)
