"""Score predictions of one's own, and compare finished runs: what `openworld score` and `openworld compare` do."""

import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

from openworld._errors import OpenworldError
from openworld._score_files import columns_of
from openworld._types import checked
from openworld.report.report import Report
from openworld.report.run_comparison import comparison_report
from openworld.runs.scratch import ScratchFolder

TABLE = "predictions.parquet"


@checked
def score(predictions: Any, out: Path | str | None = None, *, name: str = "", all_pairs: bool = False) -> Report:
    """Return OpenworldAUC and its companions of predictions that were made elsewhere.

    Args:
        predictions: a .parquet, .csv or .npz file; or columns: a mapping of arrays, a pandas, polars or pyarrow table.
            A row per image: `side` ("base" or "new"), `score` (larger = more base-like), `correct` (or `label` and
            `prediction`), and perhaps `joint_prediction`, `confidence`, `group`, `part`, `model`, `seed`, `id`, as
            `openworld score --help` says. Without a value of `correct` for new images, of a classifier that knows base
            names alone, there is no OpenworldAUC, and all that rests on base names and on `score` stands.
        out: folder that keeps records and report; None for none.
        name: of the model where the table has no column `model`, and of the run in `compare`; "" for "model".
        all_pairs: test every model against every other, also of more than 100, of which the best alone is tested
            against all others. Corrections are for all pairs either way, since the best was chosen by these numbers.

    Raises:
        OpenworldError: a table that lacks a column or holds what it cannot, as the message says.

    >>> mine = {"side": ["base", "base", "new", "new"], "score": [3, 2, 1, 0], "correct": [True, False, True, True]}
    >>> score(mine).verdict[0][:24]
    'OpenworldAUC of model is'
    """
    from openworld.applications import score as scoring
    from openworld.evaluations.finished_runs import read_report

    held = ScratchFolder()
    scratch = Path(held.name)
    folder = Path(out) if out is not None else scratch / "run"
    try:
        file = _file(predictions, scratch)
        title = "predictions" if file.parent == scratch else file.name
        scoring.score_file(file, folder, ["openworld.score"], title, name or "model", all_pairs=all_pairs)
        run = replace(read_report(folder), title="" if out is not None else name or title)
    except BaseException as error:
        held.cleanup()
        if isinstance(error, OpenworldError):  # columns have no path that anybody knows
            raise OpenworldError(str(error).replace(str(scratch / TABLE), "the table")) from None
        raise
    weakref.finalize(run, held.cleanup)
    if out is not None:
        run.save_report()
    return run


@checked
def compare(first: Report | Path | str, second: Report | Path | str, metric: str = "") -> Report:
    """Return two runs of one evaluation side by side: both numbers, their difference, and whether it is shown.

    Args:
        first, second: runs, or their folders.
        metric: what is compared, such as "auroc"; "" for the first metric of the evaluation.

    Returns:
        A report: `.found.pairs` has each pair of numbers and its test, `.found.changes` what was asked differently.

    Raises:
        OpenworldError: runs of two evaluations, on other data, without a number in common; an unknown metric.
    """
    from openworld.evaluations.finished_runs import compare_runs

    folders = [run.folder if isinstance(run, Report) else run for run in (first, second)]
    names = [run.title if isinstance(run, Report) else "" for run in (first, second)]
    first_name, second_name = (str(name or folder) for name, folder in zip(names, folders, strict=True))
    return comparison_report(compare_runs(*folders, metric, (first_name, second_name)))


def _file(predictions: Any, scratch: Path) -> Path:
    """A file of predictions; columns, of which a matrix becomes a column of lists, are written into one."""
    if isinstance(predictions, str | Path):
        return Path(predictions)
    import pyarrow
    import pyarrow.parquet

    columns = {}
    for name, column in columns_of(predictions).items():
        try:
            columns[name] = pyarrow.array(list(column) if column.ndim > 1 else column)
        except pyarrow.ArrowException as error:
            raise OpenworldError(f"column {name} of the table holds entries of several kinds ({error}).") from error
    pyarrow.parquet.write_table(pyarrow.table(columns), scratch / TABLE)
    return scratch / TABLE
