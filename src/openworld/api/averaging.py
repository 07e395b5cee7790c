"""Means over the data sets of several runs: `openworld average`."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from openworld.api.arguments import EVERY, OutputFolder, Report, Runs
from openworld.api.finished_run import folder_of
from openworld.core.console import Ending
from openworld.core.errors import OpenworldError
from openworld.core.types import checked


@checked
def average(
    runs: Runs, *, of: str = "", out: Annotated[Path | str | None, OutputFolder(pages=(EVERY,))] = None
) -> Report:
    """Average several runs of one evaluation, one on each data set, and say which methods differ over data sets.

    ```
    openworld average runs/dtd runs/eurosat runs/pets
    openworld average runs/near-*/ --of fpr_out_positive --out runs/all
    ```

    The mean counts every data set the same. Its two intervals say what they are over: seeds (these data sets, other
    draws and trainings) and data sets (these are a sample). Methods are tested in pairs over the data sets (Student's
    t, Holm), and ranked: Friedman's test, and Nemenyi's critical difference in a diagram. The page has a panel for
    each data set. Data sets bear the names of their folders.

    A spec with `[[each]]` makes such runs in one go: `openworld run --help`.

    Args:
        runs: folders of finished runs, a data set each; in Python also runs, or {name of the data set: run or folder}.
        of: metric, such as auroc or absolute_error; default: that by which the evaluation compares methods.
        out: folder that keeps page and numbers.

    Returns:
        A report: `.tables`, `.results` (means, ranks and tests as rows); it shows its tables in a notebook.

    Raises:
        OpenworldError: fewer than two runs, two of one name, runs of two evaluations, an unknown metric.
    """
    from openworld.evaluations.finished_runs import average_runs

    report = average_runs(_folders(runs), of)
    if out is None:
        return report
    out = Path(out)
    report.write(out)
    return replace(report, ending=Ending.at(out, f"Numbers: {out / 'results.parquet'}"))


def _folders(runs: Runs) -> dict[str, Path]:
    """Return the folders by the names of their data sets."""
    if isinstance(runs, Mapping):
        return {str(name): folder_of(run) for name, run in runs.items()}
    if not isinstance(runs, list | tuple):
        raise OpenworldError(f"one run came, {runs}; give a list of several.")
    folders: list[Path] = [folder_of(run) for run in runs]
    names = [folder.resolve().name for folder in folders]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise OpenworldError(f"two runs are called {twice!r}, as their folders are; rename one, so that rows differ.")
    return dict(zip(names, folders, strict=True))
