"""Dynamic scenarios as an evaluation: which parts they have."""

from collections.abc import Iterator

from openworld.datasets.names.forms import normalise_class_name
from openworld.evaluations.class_lists import meeting, variants
from openworld.evaluations.dynamic.spec import ALGORITHM_VERSION, DynamicSpec, summary, tasks
from openworld.evaluations.dynamic.task import OF_CLASSES, DynamicTask
from openworld.evaluations.dynamic.unit import evaluate
from openworld.evaluations.encoding import learning
from openworld.evaluations.evaluation import ClassList, Evaluation, Tuning
from openworld.evaluations.image_selection import DatasetSpec


def data(spec: DynamicSpec) -> tuple[DatasetSpec, ...]:
    """Return the data of the scenarios of a run."""
    used = spec.used
    tuned_on = (spec.source,) if used["variants"] or used["others"] else ()
    return tuple(dict.fromkeys((*used["datasets"], *tuned_on, *used["variants"], *used["others"])))


def class_lists(spec: DynamicSpec) -> Iterator[ClassList]:
    """Return the names of all data; every seed cuts those of `datasets` anew where the spec does not."""
    used = spec.used
    for entry in used["datasets"]:
        yield ClassList.of(entry) if entry.says_classes else ClassList(str(entry), entry.dataset, entry.classnames, 0)
    if not used["variants"] and not used["others"]:
        return
    source = spec.source.classnames
    yield ClassList(str(spec.source), spec.source.dataset, source, len(source))
    yield from variants(used["variants"], spec.source)
    for other in used["others"]:
        names = other.classnames
        taken_over = {normalise_class_name(name) for name in names}  # the source's class of that name is left out there
        kept = tuple(name for name in source if normalise_class_name(name) not in taken_over)
        yield from meeting(other, names, {str(spec.source): kept})


def count(spec: DynamicSpec) -> int:
    """Return the number of tasks: learners times seeds on every data set tuned on."""
    of_classes = len(spec.datasets) if set(spec.scenarios) & set(OF_CLASSES) else 0
    return len(spec.learners) * len(spec.seeds) * (of_classes + bool(set(spec.scenarios) - set(OF_CLASSES)))


def tunings(spec: DynamicSpec) -> Iterator[Tuning]:
    """Return what learners are tuned on and asked about."""
    if set(spec.scenarios) & set(OF_CLASSES):
        yield from (Tuning(data, (data,)) for data in spec.datasets)
    if set(spec.scenarios) - set(OF_CLASSES):
        used = spec.used
        yield Tuning(spec.source, (spec.source, *used["variants"], *used["others"]), base_only=False)


EVALUATION = Evaluation(
    "dynamic",
    DynamicSpec,
    DynamicTask,
    evaluate=evaluate,
    version=ALGORITHM_VERSION,
    summary=summary,
    data=data,
    class_lists=class_lists,
    tunings=tunings,
    **learning(tasks) | {"count": count},
)
