"""From run folders to our numbers of one table of a paper, in its unit and under its names."""

from collections.abc import Iterator, Sequence

from openworld._errors import OpenworldError
from openworld.evaluations.accuracy_estimation import paper as accuracy_estimation
from openworld.evaluations.decomposed_zero_shot import paper as decomposed
from openworld.evaluations.dynamic import paper as dynamic
from openworld.evaluations.ood_detection import paper as ood_detection
from openworld.evaluations.recognition import paper as recognition
from openworld.evaluations.recognition.paper import BOTH_SIDES, MethodOutcomes
from openworld.papers import AVERAGE, AVERAGED, PaperTable, paper_table, published_numbers
from openworld.papers.measured import Measured, StandsFor, average_of, several_datasets
from openworld.results import Interval

__all__ = ["Interval", "Measured", "StandsFor", "measured"]


def measured(paper: str, table: str, runs: Sequence[StandsFor]) -> tuple[Measured, ...]:
    """Our numbers of a paper's table.

    Args:
        paper: "openworldauc", "openpl", "frap" or "is-ood".
        table: its number, such as "8-9".
        runs: whole runs of the protocols that `PaperTable.kinds` names; data sets beyond the table's are left out
            where any of its own is among them, and all are taken where none is (other data, same layout).

    Returns:
        Numbers in the order of the records, with their averages as the table has them.

    Raises:
        OpenworldError: an unknown paper or table, a run that is missing, unfinished or of another protocol.
    """
    wanted = paper_table(paper, table)
    if wanted.kinds == ("dynamic",):
        return dynamic.read(wanted.tasks[0], runs, wanted.metrics, wanted.datasets)
    if wanted.kinds == ("accuracy-estimation",):
        return accuracy_estimation.read(wanted, runs)
    if wanted.kinds == ("incremental-shift",):
        return ood_detection.read(wanted, runs)
    if wanted.kinds == ("decomposed-zero-shot",):
        return decomposed.read(wanted, runs)
    numbers = tuple(_of_hua(wanted, recognition.methods_of(runs)))
    if not numbers:
        raise OpenworldError(
            f"{wanted.short_heading} is read from runs of {' and '.join(wanted.kinds)}; none of the {len(runs)} given "
            f"holds {' or '.join(wanted.tasks)}."
        )
    return numbers


def _of_hua(wanted: PaperTable, everything: Sequence[MethodOutcomes]) -> Iterator[Measured]:
    if wanted.columns == ("task",):
        yield from _task_columns(everything)
        return
    read = [number for task in wanted.tasks for number in recognition.read(task, everything, wanted.metrics)]
    printed = published_numbers(wanted.paper, wanted.number)
    if "source" not in {number.setting for number in printed}:
        read = [number for number in read if number.setting != "source"]
    numbers = _of_datasets(read, wanted.datasets)
    if wanted.rows == "setting":
        methods = {number.method for number in printed}
        yield from [number for number in numbers if number.method in methods] or numbers
    elif "dataset" in wanted.columns:
        yield from numbers
        setting = BOTH_SIDES if "imbalance" in wanted.tasks else ""
        yield from (average_of(group, setting) for group in _groups(numbers) if several_datasets(group))
    else:
        yield from (average_of(group, dataset="") for group in _groups(numbers, with_source=True))


def _task_columns(everything: Sequence[MethodOutcomes]) -> Iterator[Measured]:
    """Table 15. Its column of domain adaption repeats the source, and so does ours, to be of the same thing."""
    for name, (task, datasets) in AVERAGED.items():
        metrics = ("n_params_thousand",) if task == "size" else ("OpenworldAUC",)
        numbers = _of_datasets(recognition.read(task, everything, metrics), datasets)
        if task == "domain generalisation":
            numbers = [number for number in numbers if number.setting == "source"]
        for group in _groups(numbers, with_source=True):
            yield average_of(group, task=name, dataset="" if task == "size" else AVERAGE)


def _of_datasets(numbers: Sequence[Measured], datasets: Sequence[str]) -> list[Measured]:
    """Those on the table's own data sets; all of them where none is."""
    return [number for number in numbers if number.dataset in datasets] or list(numbers)


def _groups(numbers: Sequence[Measured], *, with_source: bool = False) -> list[list[Measured]]:
    """The numbers of each method and metric; a source is averaged with its targets only where that is asked for."""
    groups: dict[tuple[str, str], list[Measured]] = {}
    for number in numbers:
        if with_source or number.setting != "source":
            groups.setdefault((number.method, number.metric), []).append(number)
    return list(groups.values())
