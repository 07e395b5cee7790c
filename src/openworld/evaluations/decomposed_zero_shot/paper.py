"""IS-OOD's Table 3: which rows of decomposed zero-shot accuracy it holds.

"Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox" (Long et al., 2024), Appendix B.
ImageNet-C is the mean over its corruptions and severities. A number of several seeds is the mean of the seeds' numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from openworld.evaluations.decomposed_zero_shot.report import ANY, PARTS, read_results
from openworld.papers import PaperTable
from openworld.papers.results import Cells, PaperRow, PaperRun
from openworld.results import Results, RunFolder

WHOLE = "CLIP"  # what the paper calls whole features

_SETTINGS = {"whole": "full features", "semantic": "semantic features", "covariate": "covariate features"}
CELLS = {"decomposed zero-shot": tuple(Cells({"part": PARTS[part]}, name) for part, name in _SETTINGS.items())}


def rows(_: PaperTable, runs: Sequence[PaperRun]) -> Iterator[PaperRow]:
    """Yield every number of every run; whole features are read from any method."""
    for run in runs:
        results, backbone = run.read(_load)
        for result in (row for row in results if row.where.keys() == {"part", "images"}):
            method = WHOLE if result.entity == ANY else run.method(result.entity)
            if run.methods and method not in run.methods.values():
                continue  # of whole features alone some method was run that nobody asked for, or the other way round
            dataset, part = run.dataset(str(result.where["images"])), {"part": result.where["part"]}
            yield PaperRow(replace(result, where=part), dataset, method, backbone)


def _load(folder: Path) -> tuple[Results, str]:
    run = RunFolder.read(folder)
    return read_results(run), run.records[0].metrics["backbone"]
