"""What an evaluation is: one object that names its parts, and is asked by all that run, list or report it.

A task of a run is its spec with one entry of each list that units are made for, such as one learner and one seed:

    [spec.only(learner=learner, seed=seed) for learner in spec.learners for seed in spec.seeds]

Fields are declared once, in the spec. What a unit reads and does is computed from the task's own fields, and the key of
a unit is the hash of its task: cut every list of which a unit uses a part, and adding to that list keeps the unit.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from typing import Any, Self

from openworld.evaluations.image_selection import DatasetSpec
from openworld.runs import Unit, UnitResult, read_spec, to_json

DERIVED: Any = None  # for a field that follows from the others where it is left out


def entry_of(listed: str) -> property:
    """Return a property of a spec: the entry of a list that a task has alone.

    Args:
        listed: the field of the list, such as "learners".
    """

    def entry(task: Any) -> Any:
        (only,) = getattr(task, listed)
        return only

    return property(entry, doc=f"The entry of `{listed}` that a task has.")


@dataclass(frozen=True, eq=False)
class Spec:
    """What specs have in common; one is a frozen dataclass with fields `protocol` and, mostly, `seeds`.

    The spec of an evaluation adds a property for every list that tasks are made for (`learner = entry_of("learners")`)
    and a property `name`, what people call the unit, one of a kind in its run. It may have the parts of `Evaluation`
    as its methods, by their names.
    """

    seed = entry_of("seeds")

    def only(self, **cut: Any) -> Self:
        """Return a task: the spec with some fields as they are given.

        Args:
            cut: fields by their names; or an entry of a list by the name of the list without its s, such as `seed`.
        """
        names = {each.name for each in fields(self)}
        alone = {f"{name}s": (entry,) for name, entry in cut.items() if name not in names}
        return replace(self, **alone | {name: value for name, value in cut.items() if name in names})


def datasets_named(part: Any) -> Iterator[DatasetSpec]:
    """Yield every `DatasetSpec` in a task or a part of one."""
    if isinstance(part, DatasetSpec):
        yield part.data
    elif isinstance(part, tuple):
        for entry in part:
            yield from datasets_named(entry)
    elif is_dataclass(part):
        for each in fields(part):
            yield from datasets_named(getattr(part, each.name))


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
    def of(cls, data: DatasetSpec) -> "ClassList":
        """The names of a `DatasetSpec`, cut as it says."""
        base_count = len(data.split.base)
        return cls(str(data), data.dataset, data.classnames, base_count, by_order=not data.says_classes)


def variants(entries: Iterable[DatasetSpec], source: DatasetSpec) -> Iterator[ClassList]:
    """Return the lists of variants with names of their own; most show some of the source's under the same names."""
    for variant in entries:
        names = tuple(name for name in variant.classnames if name not in source.left_out)
        if not set(names) <= set(source.classnames):
            base = set(names) & set(source.split.base_names)
            yield ClassList(str(variant), variant.dataset, names, len(base))


def meeting(other: DatasetSpec, names: tuple[str, ...], against: Mapping[str, tuple[str, ...]]) -> Iterator[ClassList]:
    """Return the list of another data set whose names meet the source's, where any are left."""
    if names:
        met = {title: theirs for title, theirs in against.items() if theirs}
        yield ClassList(str(other), other.dataset, names, 0, met)


Tuning = tuple[DatasetSpec, tuple[DatasetSpec, ...], bool]
"""What all learners of a run are tuned on, what they are tested on, and whether base classes alone are tuned on."""


def nothing(*_: Any) -> tuple:
    """Return (): what an evaluation says that has no such part."""
    return ()


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The parts of an evaluation; of those left out, whatever the spec has as a method of that name.

    Args:
        name: as specs and the command line call it.
        spec: a frozen dataclass with a field `protocol`, which says the name; the first line of its docstring says what
            it does.
        tasks: spec -> its tasks, in the order of the tables; each is the spec with one entry of each list.
        evaluate: (task, machine) -> the record of the unit: tables, metrics, attachments.
        version: of its algorithm; raise it when its numbers change.
        inputs: (task, machine) -> {what: fingerprint} of all that the task reads beside its own fields.
        artifacts: (spec, machine) -> the stages before the units (`openworld.evaluations.artifacts.Stage`).
        require: (tasks, machine) -> nothing; refuses what would fail in the middle of the run.
        summary: spec -> what is run on what, in a few words each.
        fingerprints: spec -> {image set: fingerprint}, for the record of where the run's numbers come from; of the
            `image_sets` of its tasks.
        data: spec -> every `DatasetSpec` that is used, which is looked for before anything else; those of its tunings,
            or where it has none, those that its tasks name.
        class_lists: spec -> a `ClassList` for every data set, whose names are audited.
        backbones: spec -> names of the models that read class names.
        report: a module with `report(run)`, see `openworld.evaluations.finished_runs`; "" for none: records are shown
            as they are. Of ours it is the module `report` beside this object.
        order: (tasks, machine) -> the tasks in the order in which they are worked on.
        effort: (task, machine) -> numbers that sort tasks by how long they take; see `Unit`.
        title: (spec, task) -> what people call the unit; the task's name.
        tunings: spec -> a `Tuning` for all that learners are tuned on; None where the tasks are not learners, so that
            nobody knows what memory one needs.
        task: the class of its tasks, where they are no specs.
    """

    name: str
    spec: type
    tasks: Callable[[Any], Sequence]
    evaluate: Callable[[Any, Any], UnitResult]
    version: int = 1
    inputs: Callable[[Any, Any], Mapping[str, str]] = DERIVED
    artifacts: Callable[[Any, Any], Iterable] = DERIVED
    require: Callable[[Sequence, Any], object] = DERIVED
    summary: Callable[[Any], Iterable[str]] = DERIVED
    fingerprints: Callable[[Any], Mapping[str, str]] = DERIVED
    data: Callable[[Any], Iterable] = DERIVED
    class_lists: Callable[[Any], Iterable[ClassList]] = DERIVED
    backbones: Callable[[Any], Sequence[str]] = DERIVED
    report: str = ""
    order: Callable[[Sequence, Any], Sequence] = DERIVED
    effort: Callable[[Any, Any], tuple[float, ...]] = DERIVED
    title: Callable[[Any, Any], str] = DERIVED
    tunings: Callable[[Any], Iterable] | None = None
    task: type[Any] = DERIVED

    def __post_init__(self):
        usual: dict[str, Any] = dict.fromkeys(
            ("artifacts", "require", "summary", "class_lists", "backbones", "effort"), nothing
        )
        usual |= {"inputs": lambda task, machine: {}, "order": lambda tasks, machine: tasks}
        usual |= {"title": lambda spec, task: task.name, "tunings": None}
        method_of = {name: getattr(self.spec, name, None) for name in usual}
        derived = {name: method if callable(method) else usual[name] for name, method in method_of.items()} | {
            "data": lambda spec: tuple(dict.fromkeys(datasets_named(tuple((self.tunings or self.tasks)(spec))))),
            "fingerprints": lambda spec: {str(images): images.fingerprint for images in self._image_sets(spec)},
            "task": self.spec,
        }
        for name, part in derived.items():
            if getattr(self, name) is DERIVED:
                object.__setattr__(self, name, part)

    def _image_sets(self, spec) -> Iterable:
        every = (getattr(task, "image_sets", {}) for task in self.tasks(spec))
        return dict.fromkeys(images for sets in every for images in sets.values())

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

        spec, here = read_spec(task, self.task), read_spec(machine, Machine)
        if hasattr(spec, "threads"):
            torch.set_num_threads(spec.threads)
        require_same(self.inputs(spec, here), inputs or {})
        return self.evaluate(spec, here)
