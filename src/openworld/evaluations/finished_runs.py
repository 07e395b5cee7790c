"""What a finished run says, whatever it evaluates: its slice is imported when it is asked for, and never torch.

A slice's `report.py` holds `report(run) -> Report`, and perhaps `compare(first, second, metric)` of two reports, which
returns pairs or a whole `RunComparison`, where numbers can be paired more closely than by seed.
"""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

from openworld.core.errors import OpenworldError
from openworld.evaluations import report_of
from openworld.report.report import Report
from openworld.report.run_comparison import RunComparison
from openworld.results import RunFolder, pair_results, require_same_data
from openworld.results.settings_diff import differing_settings
from openworld.runs import RunStore


def evaluation_name(folder: Path | str) -> str:
    """Return the evaluation of the run in a folder, whole or not; predictions that were scored are of recognition."""
    resolved = RunStore(folder).description()["resolved"]
    return (isinstance(resolved, dict) and resolved.get("protocol")) or "recognition"


def read_report(folder: Path | str) -> Report:
    return _report(evaluation_name(folder)).report(RunFolder.read(folder))


def compare_runs(
    first: Path | str, second: Path | str, metric: str = "", names: tuple[str, str] | None = None
) -> RunComparison:
    """Return two runs of one evaluation on the same data side by side."""
    reports = [_report(evaluation_name(folder)) for folder in (first, second)]
    runs = [RunFolder.read(folder) for folder in (first, second)]
    kinds = [run.evaluation or "recognition" for run in runs]
    pairing = [getattr(report, "compare", None) for report in reports]
    if kinds[0] != kinds[1] and (pairing[0] is None or pairing[0] is not pairing[1]):
        raise OpenworldError(f"{first} holds a run of {kinds[0]} and {second} one of {kinds[1]}; give two of one kind.")
    require_same_data(*runs)
    ours, theirs = (report.report(run) for report, run in zip(reports, runs, strict=True))
    pair = pairing[0] or (lambda first, other, of: pair_results(first.results, other.results, of))
    comparison = pair(ours, theirs, metric)
    if not isinstance(comparison, RunComparison):
        comparison = RunComparison((str(first), str(second)), comparison[0].first.metric, comparison)
    changed = {setting for setting, _, _ in comparison.changes}
    settings = [change for change in differing_settings(*runs) if change[0] not in changed]
    return replace(comparison, names=names or comparison.names, changes=(*comparison.changes, *settings))


def _report(evaluation: str):
    module = report_of(evaluation)
    if not module:
        raise OpenworldError(
            f"{evaluation} brings no report, so that its runs have no page, figures or comparison; their numbers: "
            "openworld report RUN --table json."
        )
    return import_module(module)
