"""From records of decomposed zero-shot accuracy to the numbers of IS-OOD's Table 3.

"Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox" (Long et al., 2024), Appendix B.
ImageNet-C is the mean over its corruptions and severities. A number of several seeds is the mean of the seeds' numbers.
"""

from collections.abc import Iterator, Sequence

from openworld._errors import OpenworldError
from openworld.evaluations.decomposed_zero_shot.run import DecomposedRun, load_decomposed
from openworld.papers import METRICS, PaperTable
from openworld.papers.measured import Measured, StandsFor
from openworld.results import Interval
from openworld.results.seeds import mean, student

WHOLE = "CLIP"
"""What the paper calls whole features."""

SETTINGS = {"whole": "full features", "semantic": "semantic features", "covariate": "covariate features"}
RANKS = {"Acc@1": "top1", "Acc@5": "top5"}


def read(wanted: PaperTable, runs: Sequence[StandsFor]) -> tuple[Measured, ...]:
    """Our numbers of the table.

    Args:
        wanted: Table 3 of IS-OOD.
        runs: whole runs; whole features are read from any method.

    Raises:
        OpenworldError: when there is no run, or one of another protocol.
    """
    if not runs:
        raise OpenworldError(f"{wanted.short_heading} is read from a run of decomposed zero-shot accuracy; give one.")
    return tuple(number for one in runs for number in _numbers(one, one.read(load_decomposed), wanted))


def _numbers(stands: StandsFor, run: DecomposedRun, wanted: PaperTable) -> Iterator[Measured]:
    for part, method in run.lines:
        named = WHOLE if part == "whole" else stands.method(method)
        if stands.methods and named not in stands.methods.values():
            continue  # of whole features alone some method was run that nobody asked for, or the other way round
        for row in run.rows:
            for metric in wanted.metrics:
                told = run.accuracies(part, method, row, RANKS[metric])
                unit, dataset = METRICS[metric].per_one, stands.dataset(row)
                per_seed = () if None in told else tuple(unit * one for one in told)
                intervals = student(per_seed, METRICS[metric]) or _over_images(run, part, method, row, metric)
                yield Measured(
                    *(dataset, SETTINGS[part], named, metric, mean(per_seed), intervals, per_seed),
                    datasets=(dataset,),
                    backbone=run.any["backbone"],
                )


def _over_images(run: DecomposedRun, part: str, method: str, row: str, metric: str) -> tuple[Interval, ...]:
    """Of one seed and one image set; several show the same pictures, so that nothing simple can be said of them."""
    sets = run.sets(method, row)
    if len(sets[0]) > 1 or (part != "whole" and len(sets) > 1):
        return ()
    told, unit = sets[0][0]["parts"][part][RANKS[metric]], METRICS[metric].per_one
    if not told or not told["interval"]:
        return ()
    low, high = told["interval"]
    return (Interval(unit * low, unit * high, "images", told["n"]),)
