"""What a run knows of its reference models: calibration on the targets (FRAP, Table 2) and semantic alignment (5.3).

Expected calibration error (15 bins): of the judged model before and after the temperature fitted on the source, of a
reference at its own scale, at none, and at the temperature that FRAP finds on the unlabelled images (TTC). The Semantic
Alignment Score is how near in meaning the predicted distribution lies to the true class, over a taxonomy.
"""

from collections.abc import Iterator

import numpy as np

from openworld.evaluations.accuracy_estimation.crossed_bootstrap import CrossedBootstrap
from openworld.evaluations.accuracy_estimation.measurements import Measurements, finite, mean_of, value_of
from openworld.evaluations.accuracy_estimation.record import BASE, FUSED, RAW, SCALED, TAU, TTC, UNSCALED
from openworld.results import METRICS, Metric, Result, Value, student

ALL = "All conditions"
"""Where a mean is over all conditions alike, whatever their lines."""

JUDGED = "judged models"
CALIBRATIONS = {RAW: "raw", SCALED: "scaled", UNSCALED: "unscaled", TTC: "TTC"}
"""A kind of calibration in records -> what tables call it."""

CALIBRATION, ALIGNMENT = METRICS["expected_calibration_error"], METRICS["semantic_alignment"]
TEMPERATURE = Metric("temperature", "temperature", "number", 3, 0, (0.0, None))
ALIGNMENT_GAIN = Metric("semantic_alignment_gain", "gain", "points", better=0, bounds=(-1.0, 1.0))
GAINS = Metric("share_of_gains", "share above 0", digits=0, better=0)
NOT_KNOWN = "no record tells it"


def calibration(bootstrap: CrossedBootstrap) -> Iterator[Result]:
    """Calibration errors of the judged and of the reference models on the targets, as FRAP's Table 2."""
    measured = bootstrap.measured
    named = [
        (BASE, RAW),
        (BASE, SCALED),
        *((name, kind) for name in measured.references for kind in (RAW, UNSCALED, TTC)),
    ]
    for name, kind in named:
        values = measured.read(lambda target, name=name, kind=kind: target.ece.get(name, {}).get(kind))
        if np.isfinite(values).any():
            entity, where = JUDGED if name == BASE else name, {"calibration": CALIBRATIONS[kind]}
            for line in measured.lines:
                yield bootstrap.result(entity, CALIBRATION, values, line, NOT_KNOWN, **where)
            yield _over_all(bootstrap, entity, values, where)


def _over_all(bootstrap: CrossedBootstrap, entity: str, values: np.ndarray, where: dict[str, str]) -> Result:
    """The mean over all conditions alike; None where one is not known."""
    measured = bootstrap.measured
    known = np.isfinite(measured.accuracy)
    seeds = np.array([model.seed for model in measured.models])
    per_seed = tuple(mean_of(values[known & (seeds == seed)[:, None]]) for seed in measured.seeds)
    place = {"images": ALL, **where}
    if not np.isfinite(values[known]).all():
        return Result(entity, CALIBRATION, Value(None, reason="it is not known for every condition"), place)
    drawn = bootstrap.intervals(values, measured.main) if len(measured.rows) == 1 else ()
    value = Value(float(values[known].mean()), (*drawn, *student(per_seed, CALIBRATION)))
    return Result(entity, CALIBRATION, value, place, measured.seeds, per_seed)


def temperatures(measured: Measurements) -> Iterator[Result]:
    """The median temperature that FRAP finds for a reference on unlabelled images."""
    for name in measured.references:
        values = measured.read(lambda target, name=name: target.ece.get(name, {}).get(TAU))
        if np.isfinite(values).any():
            for row in measured.rows:
                known = finite(values[:, measured.of_row(row)])
                yield Result(name, TEMPERATURE, value_of(np.median, known, NOT_KNOWN), {"images": row})


def alignment(bootstrap: CrossedBootstrap) -> Iterator[Result]:
    """Semantic alignment of the judged models, of references, and of both fused, and what fusing adds."""
    measured = bootstrap.measured

    def read(key: str) -> np.ndarray:
        return measured.read(lambda target: (target.alignment or {}).get(key))

    fused = {name: values for name in measured.references if np.isfinite(values := read(f"{FUSED}{name}")).any()}
    scores = {JUDGED: read(BASE)} if fused else {}
    for name, values in fused.items():
        scores |= {name: read(name), f"{FUSED}{name}": values}
    for line in measured.lines:
        for entity, values in scores.items():
            yield bootstrap.result(entity, ALIGNMENT, values, line, NOT_KNOWN)
        for name, values in fused.items():
            for other in (JUDGED, name):
                gain = values - scores[other]
                yield bootstrap.result(f"{FUSED}{name}", ALIGNMENT_GAIN, gain, line, NOT_KNOWN, baseline=other)
                known = finite(gain[:, measured.of_line(line)])
                share = value_of(np.mean, known > 0, NOT_KNOWN)
                yield Result(f"{FUSED}{name}", GAINS, share, {"images": line, "baseline": other})
