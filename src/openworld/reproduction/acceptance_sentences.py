"""Would the printed numbers come out with other sentences around the names? No picture is encoded again for that."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from openworld.datasets.templates import PHOTO, ensemble
from openworld.evaluations.recognition import task as recognition
from openworld.evaluations.recognition_metrics import recognition_metrics, score
from openworld.evaluations.runtime import Machine, encoded_parts
from openworld.learners import ZeroShot
from openworld.papers import METRICS
from openworld.reproduction.acceptance_cells import AcceptanceCell
from openworld.reproduction.settings import PlannedRun


def other_sentences(
    runs: Sequence[PlannedRun], cells: Sequence[AcceptanceCell], machine: Machine
) -> Iterator[tuple[str, str]]:
    """(data set, what is found) for every data set of which some number departs, but fewer in other sentences.

    Args:
        runs: of zero-shot CLIP, finished; those of recognition are looked at.
        cells: their numbers.
        machine: where they ran.
    """
    for run in runs:
        titles = set(run.datasets.values())
        concerned = [cell for cell in cells if cell.dataset in titles]
        departing = sum(not cell.within for cell in concerned)
        if run.spec.protocol != "recognition" or not departing:
            continue
        for words, templates in _candidates().items():
            numbers = _numbers(run.spec, templates, machine)
            kept = sum(not replace(cell, ours=numbers[METRICS[cell.metric].key]).within for cell in concerned)
            if kept < departing:
                yield concerned[0].dataset, f"in {words} {len(concerned) - kept} of {len(concerned)} would be within"


def _candidates() -> Mapping[str, tuple[str, ...]]:
    """What papers put around names where they do not say, in words, and as templates."""
    several = ensemble("")
    return {f"the sentence {PHOTO!r}": (PHOTO,), "bare names": ("{}",), f"CLIP's {len(several)} sentences": several}


def _numbers(spec, templates: tuple[str, ...], machine: Machine) -> dict[str, float | None]:
    """The metrics by their keys, of zero-shot CLIP with these sentences."""
    task = recognition.tasks(spec)[0]
    parts, clip = encoded_parts(task, machine), machine.backbone(task.backbone)
    fitted = ZeroShot(templates).fit(clip, parts["train"].of_classes(parts["test"].split.base), seed=task.seed)
    numbers = recognition_metrics(score(fitted, parts["test"]))
    return numbers | {"openworld_auc": numbers["openworld_auc"]["value"]}
