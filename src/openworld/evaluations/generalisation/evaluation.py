"""Generalisation as an evaluation: which parts it has."""

from collections.abc import Iterator, Sequence

from openworld.evaluations.class_lists import meeting, variants
from openworld.evaluations.encoding import learning, require_learnable
from openworld.evaluations.evaluation import ClassList, Evaluation, Tuning
from openworld.evaluations.generalisation.spec import GeneralisationSpec
from openworld.evaluations.generalisation.task import GeneralisationTask, left_out_of, require_targets, summary, tasks
from openworld.evaluations.generalisation.unit import evaluate
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.runtime import Machine


def data(spec: GeneralisationSpec) -> tuple[DatasetSpec, ...]:
    """Return the source and every target."""
    return spec.source, *spec.variants, *spec.others


def class_lists(spec: GeneralisationSpec) -> Iterator[ClassList]:
    """Return the names of the source, and of targets that have others, without those that the run leaves out."""
    base = spec.source.split.base_names
    yield ClassList.of(spec.source)
    yield from variants(spec.variants, spec.source)
    for other in spec.others:
        left_out = {overlap.name for overlap in left_out_of(spec.source, other, spec.wordnet)}
        kept = tuple(name for name in other.classnames if name not in left_out)
        yield from meeting(other, kept, {str(spec.source): base})


def require(tasks: Sequence[GeneralisationTask], machine: Machine) -> None:
    """Refuse targets on which nothing can be scored, and what no learner could learn."""
    require_targets(tasks[0])
    require_learnable(tasks, machine)


def tunings(spec: GeneralisationSpec) -> Iterator[Tuning]:
    """Return what learners are tuned on and asked about."""
    yield Tuning(spec.source, data(spec))


EVALUATION = Evaluation(
    "generalisation",
    GeneralisationSpec,
    GeneralisationTask,
    evaluate=evaluate,
    version=4,
    summary=summary,
    data=data,
    class_lists=class_lists,
    tunings=tunings,
    **learning(tasks) | {"require": require},
)
