"""From recognition and generalisation records to OpenworldAUC's tables (Hua et al., 2025): rows, columns, averages."""

from collections.abc import Iterator, Sequence

from openworld._errors import OpenworldError
from openworld.evaluations.recognition.paper_tasks import BOTH_SIDES, MethodOutcomes, methods_of, numbers_of
from openworld.papers import AVERAGE, AVERAGED, PaperTable, published_numbers
from openworld.papers.results import PaperResult, PaperRun, average_of, several_datasets


def read(wanted: PaperTable, runs: Sequence[PaperRun]) -> tuple[PaperResult, ...]:
    """Return our numbers of a table.

    Args:
        wanted: the table.
        runs: whole runs of recognition, generalisation, or both.

    Raises:
        OpenworldError: when no run holds what the table shows.
    """
    numbers = tuple(_numbers(wanted, methods_of(runs)))
    if not numbers:
        raise OpenworldError(
            f"{wanted.short_heading} is read from runs of {' and '.join(wanted.kinds)}; none of the {len(runs)} given "
            f"holds {' or '.join(wanted.tasks)}."
        )
    return numbers


def _numbers(wanted: PaperTable, methods: Sequence[MethodOutcomes]) -> Iterator[PaperResult]:
    if wanted.columns == ("task",):
        yield from _task_columns(methods)
        return
    found = [number for task in wanted.tasks for number in numbers_of(task, methods, wanted.metrics)]
    printed = published_numbers(wanted.paper, wanted.number)
    if "source" not in {number.setting for number in printed}:
        found = [number for number in found if number.setting != "source"]
    numbers = _of_datasets(found, wanted.datasets)
    if wanted.rows == "setting":
        named = {number.method for number in printed}
        yield from [number for number in numbers if number.method in named] or numbers
    elif "dataset" in wanted.columns:
        yield from numbers
        setting = BOTH_SIDES if "imbalance" in wanted.tasks else ""
        yield from (average_of(group, setting) for group in _groups(numbers) if several_datasets(group))
    else:
        yield from (average_of(group, dataset="") for group in _groups(numbers, with_source=True))


def _task_columns(methods: Sequence[MethodOutcomes]) -> Iterator[PaperResult]:
    """Table 15. Its column of domain adaption repeats the source, and so does ours, to be of the same thing."""
    for name, (task, datasets) in AVERAGED.items():
        metrics = ("n_params_thousand",) if task == "size" else ("OpenworldAUC",)
        numbers = _of_datasets(numbers_of(task, methods, metrics), datasets)
        if task == "domain generalisation":
            numbers = [number for number in numbers if number.setting == "source"]
        for group in _groups(numbers, with_source=True):
            yield average_of(group, task=name, dataset="" if task == "size" else AVERAGE)


def _of_datasets(numbers: Sequence[PaperResult], datasets: Sequence[str]) -> list[PaperResult]:
    """Those on the table's own data sets; all of them where none is."""
    return [number for number in numbers if number.dataset in datasets] or list(numbers)


def _groups(numbers: Sequence[PaperResult], *, with_source: bool = False) -> list[list[PaperResult]]:
    """The numbers of each method and metric; a source is averaged with its targets only where that is asked for."""
    groups: dict[tuple[str, str], list[PaperResult]] = {}
    for number in numbers:
        if with_source or number.setting != "source":
            groups.setdefault((number.method, number.metric), []).append(number)
    return list(groups.values())
