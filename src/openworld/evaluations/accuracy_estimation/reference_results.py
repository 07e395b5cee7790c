"""What a run knows of its reference models: calibration on the targets (FRAP, Table 2) and semantic alignment (5.3).

Expected calibration error (15 bins): of the judged model before and after the temperature fitted on the source, of a
reference at its own scale, at none, and at the temperature that FRAP finds on the unlabelled images (TTC). The Semantic
Alignment Score is how near in meaning the predicted distribution lies to the true class, over a taxonomy.
"""

from collections.abc import Iterator

import numpy as np

from openworld.evaluations.accuracy_estimation.cards import (
    ALIGNMENT,
    ALIGNMENT_GAIN,
    CALIBRATION,
    CLASSIFIERS,
    FIXED,
    FUSED,
    GAINS,
    RAW,
    SCALED,
    TEMPERATURE,
    TTC,
    UNSCALED,
)
from openworld.evaluations.accuracy_estimation.crossed_bootstrap import CrossedBootstrap
from openworld.evaluations.accuracy_estimation.measurements import Measurements, finite, mean_of, value_of
from openworld.results import Result, Value, student

ALL = "All conditions"
"""Where a mean is over all conditions alike, whatever their lines."""

NOT_KNOWN = "no record tells it"


def alignment_values(measured: Measurements) -> dict[str, np.ndarray]:
    """Return {prediction: its semantic alignment, float[M, C]}, of references and of their fusion with what is judged.

    Empty where no reference was fused.
    """
    scores = {name: measured.read(f"{FUSED}{name}", ALIGNMENT) for name in measured.references}
    fused = {name: each for name, each in scores.items() if np.isfinite(each).any()}
    values = {CLASSIFIERS: measured.read(CLASSIFIERS, ALIGNMENT)} if fused else {}
    for name, each in fused.items():
        values |= {name: measured.read(name, ALIGNMENT), f"{FUSED}{name}": each}
    return values


def calibration(bootstrap: CrossedBootstrap) -> Iterator[Result]:
    """Yield calibration errors of judged and of reference models on the targets, as FRAP's Table 2 and Figure 3."""
    measured = bootstrap.measured
    references = [(name, kind) for name in measured.references for kind in (RAW, UNSCALED, TTC, *FIXED)]
    for entity, kind in [(CLASSIFIERS, RAW), (CLASSIFIERS, SCALED), *references]:
        values = measured.read(entity, CALIBRATION, kind)
        if np.isfinite(values).any():
            for line in measured.lines:
                yield bootstrap.result(entity, CALIBRATION, values, line, NOT_KNOWN, calibration=kind)
            yield _over_all(bootstrap, entity, values, kind)


def _over_all(bootstrap: CrossedBootstrap, entity: str, values: np.ndarray, kind: str) -> Result:
    """The mean over all conditions alike; None where one is not known."""
    measured = bootstrap.measured
    known = np.isfinite(measured.accuracy)
    seeds = np.array([model.seed for model in measured.models])
    per_seed = tuple(mean_of(values[known & (seeds == seed)[:, None]]) for seed in measured.seeds)
    place = {"images": ALL, "calibration": kind}
    if not np.isfinite(values[known]).all():
        return Result(entity, CALIBRATION, Value(None, reason="it is not known for every condition"), place)
    drawn = bootstrap.intervals(values, measured.main) if len(measured.rows) == 1 else ()
    value = Value(float(values[known].mean()), (*drawn, *student(per_seed, CALIBRATION)))
    return Result(entity, CALIBRATION, value, place, measured.seeds, per_seed)


def temperatures(measured: Measurements) -> Iterator[Result]:
    """Yield the median temperature that FRAP finds for a reference on unlabelled images."""
    for name in measured.references:
        values = measured.read(name, TEMPERATURE)
        if np.isfinite(values).any():
            for line in measured.lines:
                known = finite(values[:, measured.of_line(line)])
                yield Result(name, TEMPERATURE, value_of(np.median, known, NOT_KNOWN), measured.place(line))


def alignment(bootstrap: CrossedBootstrap) -> Iterator[Result]:
    """Yield semantic alignment of the judged models, of references, and of both fused, and what fusing adds."""
    measured = bootstrap.measured
    values = alignment_values(measured)
    for line in measured.lines:
        for entity, scores in values.items():
            yield bootstrap.result(entity, ALIGNMENT, scores, line, NOT_KNOWN)
        for entity in (entity for entity in values if entity.startswith(FUSED)):
            for other in (CLASSIFIERS, entity.removeprefix(FUSED)):
                gain = values[entity] - values[other]
                yield bootstrap.result(entity, ALIGNMENT_GAIN, gain, line, NOT_KNOWN, baseline=other)
                known = finite(gain[:, measured.of_line(line)])
                share = value_of(np.mean, known > 0, NOT_KNOWN)
                yield Result(entity, GAINS, share, measured.place(line) | {"baseline": other})
