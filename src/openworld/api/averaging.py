"""Means over the data sets of several runs: what `openworld average` does."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from openworld._errors import OpenworldError
from openworld._types import checked
from openworld.report.report import Report
from openworld.runs.outputs import require_folder


@checked
def average(
    runs: Sequence[Report | Path | str] | Mapping[str, Report | Path | str],
    *,
    of: str = "",
    out: Path | str | None = None,
) -> Report:
    """Average several runs of one evaluation, one on each data set.

    Args:
        runs: runs or their folders, named after their folders; or {name of the data set: run or folder}.
        of: metric, such as "auroc"; "" for the first metric of the evaluation.
        out: folder that keeps page and numbers; None for none.

    Returns:
        A report: `.tables`, `.results` (means, ranks and tests as rows); it shows its tables in a notebook.

    Raises:
        OpenworldError: fewer than two runs, two of one name, runs of two evaluations, an unknown metric.
    """
    from openworld.evaluations import EVALUATIONS, PLUGINS
    from openworld.evaluations.several_runs import average_runs

    if isinstance(runs, str | Path):
        raise OpenworldError(f"one run came, {runs}; give a list of several.")
    named = dict(runs) if isinstance(runs, Mapping) else _by_folder(runs)
    folders = {name: _folder(run) for name, run in named.items()}
    place = None if out is None else Path(out)
    require_folder("--out", place, pages=(*EVALUATIONS, *PLUGINS.offered()), inputs=folders.values())
    report = average_runs(folders, of)
    if place is not None:
        report.write(place)
    return report


def _by_folder(runs: Sequence[Any]) -> dict[str, Path]:
    folders = list(map(_folder, runs))
    names = [folder.resolve().name for folder in folders]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise OpenworldError(f"two runs are called {twice!r}, as their folders are; rename one, so that rows differ.")
    return dict(zip(names, folders, strict=True))


def _folder(run: Any) -> Path:
    return run.folder if isinstance(run, Report) else Path(run)
