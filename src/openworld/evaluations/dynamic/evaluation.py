"""Dynamic scenarios as an evaluation: which parts they have."""

from collections.abc import Iterator

from openworld.datasets.names.forms import normalise_class_name
from openworld.evaluations.class_lists import meeting, variants
from openworld.evaluations.dynamic.spec import ALGORITHM_VERSION, DynamicSpec, summary, tasks
from openworld.evaluations.dynamic.task import OF_CLASSES, Task
from openworld.evaluations.dynamic.unit import evaluate
from openworld.evaluations.encoding import learning
from openworld.evaluations.evaluation import ClassList, Evaluation
from openworld.evaluations.image_selection import DatasetSpec

FIELDS = {"distribution-shift": "variants", "co-evolution": "others"} | dict.fromkeys(OF_CLASSES, "datasets")
"""Scenario -> the field of the spec that it plays with."""


def data(spec: DynamicSpec) -> tuple[DatasetSpec, ...]:
    """Return what the scenarios of a run play with."""
    played = _played(spec)
    tuned_on = (spec.source,) if played["variants"] or played["others"] else ()
    return tuple(dict.fromkeys((*played["datasets"], *tuned_on, *played["variants"], *played["others"])))


def class_lists(spec: DynamicSpec) -> Iterator[ClassList]:
    """Return the names of all data; every seed cuts those of `datasets` anew, so that none there is base for good."""
    played = _played(spec)
    for one in played["datasets"]:
        yield ClassList(str(one), one.dataset, one.classnames, 0)
    if not played["variants"] and not played["others"]:
        return
    source = spec.source.classnames
    yield ClassList(str(spec.source), spec.source.dataset, source, len(source))
    yield from variants(played["variants"], source)
    for other in played["others"]:
        names = other.classnames
        taken_over = {normalise_class_name(name) for name in names}  # the source's class of that name is left out there
        kept = tuple(name for name in source if normalise_class_name(name) not in taken_over)
        yield from meeting(other, names, {str(spec.source): kept})


def count(spec: DynamicSpec) -> int:
    """Return the number of tasks: learners times seeds on every data set tuned on."""
    of_classes = len(spec.datasets) if set(spec.scenarios) & set(OF_CLASSES) else 0
    return len(spec.learners) * len(spec.seeds) * (of_classes + bool(set(spec.scenarios) - set(OF_CLASSES)))


def _played(spec: DynamicSpec) -> dict[str, tuple[DatasetSpec, ...]]:
    """Field -> its entries, none where no scenario plays with them."""
    wanted = {FIELDS[scenario] for scenario in spec.scenarios}
    return {field: getattr(spec, field) if field in wanted else () for field in ("datasets", "variants", "others")}


EVALUATION = Evaluation(
    "dynamic",
    DynamicSpec,
    Task,
    evaluate=evaluate,
    version=ALGORITHM_VERSION,
    summary=summary,
    data=data,
    class_lists=class_lists,
    **learning(tasks) | {"count": count},
)
