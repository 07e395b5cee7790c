"""From run folders to our numbers of one table of a paper: one reader, over what each evaluation declares.

An evaluation's module `paper` has `rows(wanted, runs)`, which says what a paper calls the data set and the method of
every row, and `CELLS`: task -> which rows its tables hold, and the setting that they stand under.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module

from openworld.core.errors import OpenworldError
from openworld.papers import AVERAGE, AVERAGED, METRICS, PaperTable, paper_table, published_numbers
from openworld.papers.numbers import SOURCE_SETTING
from openworld.papers.results import Cells, PaperResult, PaperRow, PaperRun, average_of, paper_result
from openworld.runs.unit_names import folder_of

COMPLEXITY = "size"


def paper_results(paper: str, table: str, runs: Sequence[PaperRun]) -> tuple[PaperResult, ...]:
    return read_numbers(paper_table(paper, table), runs)


def read_numbers(wanted: PaperTable, runs: Sequence[PaperRun]) -> tuple[PaperResult, ...]:
    """Return our numbers of a table that may have other metrics or data sets than the paper's; see `paper_results`."""
    kind = "recognition" if wanted.kinds[0] == "generalisation" else wanted.kinds[0]  # records of one shape
    declared = import_module(f"{folder_of(kind)}.paper")
    rows = tuple(declared.rows(wanted, runs))
    numbers = tuple((_by_task if wanted.columns == ("task",) else _numbers)(wanted, rows, declared.CELLS))
    if not numbers:
        held = dict.fromkeys(number.method for number in published_numbers(wanted.paper, wanted.number))
        raise OpenworldError(
            f"{wanted.short_heading} is read from runs of {' and '.join(wanted.kinds)}; none of the {len(runs)} given "
            f"holds {' or '.join(wanted.tasks)} of {', '.join(held) or 'any method'}: run it in a new folder."
        )
    return numbers


def _numbers(wanted: PaperTable, rows: Sequence[PaperRow], cells: Mapping[str, Sequence[Cells]]) -> list[PaperResult]:
    printed = published_numbers(wanted.paper, wanted.number)
    methods, settings = ({getattr(number, name) for number in printed} for name in ("method", "setting"))
    numbers = [number for task in wanted.tasks for number in _of_task(rows, cells[task], wanted.metrics)]
    numbers = [number for number in numbers if number.setting != SOURCE_SETTING or SOURCE_SETTING in settings]
    # Data sets beyond the table's are left out where any of its own is among them; where none is, all are taken.
    numbers = [number for number in numbers if number.dataset in wanted.datasets] or numbers
    numbers_of = [number for number in numbers if number.method in methods]
    if wanted.rows == "setting":
        return numbers_of or numbers
    numbers = numbers_of if wanted.methods == "printed" else numbers

    if not wanted.averages:
        return numbers
    averaged = [number for number in numbers if number.setting != SOURCE_SETTING]
    setting = next((number.setting for number in printed if number.dataset == AVERAGE), "")
    names = {"setting": setting if "setting" in wanted.columns else ""}
    if wanted.averages == "alone":
        dataset = AVERAGE if "dataset" in (wanted.rows, *wanted.columns) else ""
        return [average_of(group, dataset=dataset) for group in _by_method(averaged)]
    groups = [group for group in _by_method(averaged) if len({number.dataset for number in group}) > 1]
    return [*numbers, *(average_of(group, **names) for group in groups)]


def _by_task(wanted: PaperTable, rows: Sequence[PaperRow], cells: Mapping[str, Sequence[Cells]]) -> list[PaperResult]:
    """Table 15 of OpenworldAUC, an average per task. Its column of domain adaption repeats the source, and so do we."""
    averages = []
    for name, (task, datasets) in AVERAGED.items():
        metric = "n_params_thousand" if task == COMPLEXITY else "OpenworldAUC"
        numbers = list(_of_task(rows, cells[task], (metric,)))
        numbers = [number for number in numbers if number.dataset in datasets] or numbers
        sources = [number for number in numbers if number.setting == SOURCE_SETTING]
        chosen = sources if task == "domain generalisation" else numbers
        dataset = "" if task == COMPLEXITY else AVERAGE
        averages += [average_of(group, task=name, dataset=dataset) for group in _by_method(chosen)]
    return averages


def _of_task(rows: Sequence[PaperRow], cells: Sequence[Cells], metrics: Sequence[str]) -> Iterator[PaperResult]:
    """Every number of one task, data set by data set; of two kinds of rows for one place the first that is declared."""
    results: dict[tuple[str, ...], PaperResult] = {}
    for declared in cells:
        for metric in metrics:
            key = declared.keys.get(metric, METRICS[metric].key)
            for row in rows:
                if row.result.metric.key == key and declared.has(row):
                    number = paper_result(row, metric, declared.setting.format(**row.result.where))
                    results.setdefault((row.dataset, number.setting, row.method, metric), number)
    order = {(row.dataset, row.method): place for place, row in reversed(list(enumerate(rows)))}
    yield from sorted(results.values(), key=lambda number: order[number.dataset, number.method])


def _by_method(numbers: Sequence[PaperResult]) -> list[list[PaperResult]]:
    groups: dict[tuple[str, str], list[PaperResult]] = {}
    for number in numbers:
        groups.setdefault((number.method, number.metric), []).append(number)
    return list(groups.values())
