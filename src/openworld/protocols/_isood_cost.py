"""What a plan of incremental shift comes to: judged models and pictures, counted without data; no hours.

Nothing is measured: most of the time goes into passes of the judged classifier, whose speed on the machine at hand
nobody knows before it is there.
"""

from openworld.protocols._cost import RECORD_BYTES, Cost, RunCost
from openworld.protocols._estimation_work import count
from openworld.protocols._ground import PlannedRun
from openworld.protocols.incremental_shift import IncrementalShiftSpec, tasks
from openworld.protocols.reproduction import Plan

LISTED = {"imagenet21k": 522_500, "SynIS": 320_000}
"""Pictures of the published lists (qqwsad5/IS-OOD @ 7b52db8): ImageNet-21K-P's validation part, and Syn-IS."""

TESTED = 45_000
"""In-distribution test pictures of the published list."""

SCORE_BYTES = 8
WIDTH_BYTES = 4 * 512
"""Of a picture's embedding, by which shift degrees are measured."""


def shift_cost(plan: Plan, workers: int = 1) -> Cost:
    """What there is to do, without hours.

    Args:
        plan: of IS-OOD. workers: units at a time.
    """
    pictures = {run.name: pictures_of(run) for run in plan.runs}
    runs = tuple(
        RunCost(run.name, len(tasks(run.spec)), run.tables, pictures[run.name], None, None, None) for run in plan.runs
    )
    rows = sum(len(tasks(run.spec)) * pictures[run.name] * _columns(run.spec) for run in plan.runs)
    embedded = sum(pictures[run.name] for run in plan.runs if not run.spec.cells)
    records = sum(RECORD_BYTES * one.units for one in runs) + SCORE_BYTES * rows
    every = sum(pictures.values())
    return Cost(runs, every, every, WIDTH_BYTES * embedded, records, {}, workers)


def pictures_of(run: PlannedRun) -> int:
    """In-distribution test pictures and those of the pool, each of which every judged model sees."""
    spec = run.spec
    if spec.cells:
        return TESTED + LISTED[spec.cells.pictures.rpartition("/")[2]]
    tested = sum(count(one.dataset, one.domain, spec.id_part) for one in spec.sources)
    tested = tested if spec.classes == "all" else tested // 2
    shown = [count(one.dataset, one.domain, one.part) for one in spec.pool]
    return tested + sum(min(one, spec.images or one) for one in shown)


def _columns(spec: IncrementalShiftSpec) -> int:
    return max(len(one.detectors) for one in spec.models)
