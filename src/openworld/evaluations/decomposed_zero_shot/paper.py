"""From records of decomposed zero-shot accuracy to the numbers of IS-OOD's Table 3.

"Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox" (Long et al., 2024), Appendix B.
ImageNet-C is the mean over its corruptions and severities. A number of several seeds is the mean of the seeds' numbers.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from openworld._errors import OpenworldError
from openworld.evaluations.decomposed_zero_shot.record import PARTS
from openworld.evaluations.decomposed_zero_shot.results import ANY, Facts, read_results
from openworld.papers import METRICS, PaperTable
from openworld.papers.results import PaperResult, PaperRun, paper_result
from openworld.results import Results, RunFolder

WHOLE = "CLIP"
"""What the paper calls whole features."""

SETTINGS = {"whole": "full features", "semantic": "semantic features", "covariate": "covariate features"}


def read(wanted: PaperTable, runs: Sequence[PaperRun]) -> tuple[PaperResult, ...]:
    """Return our numbers of the table.

    Args:
        wanted: Table 3 of IS-OOD.
        runs: whole runs; whole features are read from any method.

    Raises:
        OpenworldError: when there is no run, or one of another protocol.
    """
    if not runs:
        raise OpenworldError(f"{wanted.short_heading} is read from a run of decomposed zero-shot accuracy; give one.")
    return tuple(number for run in runs for number in _numbers(run, *run.read(_load), wanted))


def _numbers(run: PaperRun, results: Results, facts: Facts, wanted: PaperTable) -> Iterator[PaperResult]:
    settings = {PARTS[part]: setting for part, setting in SETTINGS.items()}
    for result in results:
        method = WHOLE if result.entity == ANY else run.method(result.entity)
        if run.methods and method not in run.methods.values():
            continue  # of whole features alone some method was run that nobody asked for, or the other way round
        for metric in wanted.metrics:
            if METRICS[metric].key == result.metric.key:
                names = {"dataset": run.dataset(result.where["images"]), "setting": settings[result.where["part"]]}
                yield paper_result(result, metric, method=method, backbone=facts.backbone, **names)


def _load(folder: Path) -> tuple[Results, Facts]:
    return read_results(RunFolder.read(folder))
