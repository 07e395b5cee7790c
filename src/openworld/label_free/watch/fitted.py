"""What depends on the source alone, fitted once: its sample and temperature, what its methods say of sets like it.

Kept in one file, without pickle: the source as far as a `Sampler` keeps it (of 1,000 classes at most 20,000 images, in
the fewest bytes that are exact), with embeddings and looks of its images where it has them, the temperature, and, by
size of a period, the nulls of the methods, that of the alert, its k and h, and the test of shifts. The methods
themselves are made of these when the file is read, in a second or two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from openworld._errors import OpenworldError
from openworld.estimators import FittedEstimator, Outputs, find_estimator
from openworld.estimators.engine.temperature import Temperature, temperature_of
from openworld.label_free.estimate.accuracy_estimate import ScoredSet
from openworld.label_free.estimate.methods import fit_all
from openworld.label_free.estimate.quotes import DECIDING, Measured, Quoting
from openworld.label_free.estimate.reading import Pass, Progress
from openworld.label_free.estimate.remarks import source_remarks
from openworld.label_free.estimate.score_tables import ScoreTable
from openworld.label_free.settings import Settings
from openworld.runs import read_spec
from openworld.runs.sealed_arrays import read_arrays, write_arrays

FITTED = "what `openworld estimate fit` writes"
USUAL_IMAGES = 1_000
VECTORS = ("features", "appearance")
"""What a watch keeps of images beside what models say of them."""


@dataclass(frozen=True, eq=False)
class Watch:
    """A source as it was fitted."""

    outputs: Outputs  # of its sample, with labels
    source: ScoredSet
    classnames: tuple[str, ...] | None
    settings: Settings
    names: tuple[str, ...]  # of the methods
    measured: Measured = field(default_factory=Measured)
    warnings: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)  # facts by name, such as the SHA-256 of its files
    fingerprint: str = ""  # of the file it is kept in

    @property
    def needs(self) -> set[str]:
        """What a new file must hold beside logits."""
        return {need for name in self.names for need in find_estimator(name).needs} - {"labels"}

    def fit(self) -> dict[str, FittedEstimator]:
        """Return the methods, fitted on the source."""
        return {name: find_estimator(name)().fit(self.outputs) for name in self.names}

    def quoting(self, measured: Measured, progress: Progress | None = None) -> Quoting:
        """Return what decides what may be quoted, knowing all that was measured."""
        estimators = {name: find_estimator(name)() for name in self.names}
        return Quoting(self.outputs, estimators, self.settings, progress, measured=measured)

    def write(self, path: Path) -> "Watch":
        """Write it in one step; return it with its fingerprint."""
        known = temperature_of(self.outputs)
        about = {
            "source": asdict(self.source),
            "classnames": self.classnames,
            "settings": asdict(self.settings),
            "names": self.names,
            "warnings": self.warnings,
            "made": self.made,
            "temperature": {"value": known.value, "warning": known.warning},
            "measured": self.measured.about(),
        }
        arrays = {"labels": self.outputs.labels, "pulls": known.pulls} | dict(self.measured.arrays())
        return replace(self, fingerprint=write_arrays(path, FITTED, about, arrays | tables_of(self.outputs)))


def read_watch(path: Path) -> Watch:
    """Return what `openworld estimate fit` wrote. Raises as `read_arrays` does."""
    return read_arrays(path, FITTED, _watch_of)


def _watch_of(about: Mapping[str, Any], arrays: Mapping[str, np.ndarray], fingerprint: str) -> Watch:
    outputs = outputs_of(arrays, arrays["labels"])
    known = about["temperature"]
    temperature = Temperature(known["value"], arrays["pulls"], known["warning"])
    outputs.once("temperature", lambda: temperature)
    settings = read_spec(about["settings"], Settings)
    return Watch(
        outputs,
        ScoredSet(**about["source"]),
        None if about["classnames"] is None else tuple(about["classnames"]),
        settings,
        tuple(about["names"]),
        Measured.of(about["measured"], arrays),
        tuple(about["warnings"]),
        about["made"],
        fingerprint,
    )


def narrow(array: np.ndarray) -> np.ndarray:
    """Return an array of the fewest bytes a number that still holds every value exactly."""
    with np.errstate(over="ignore"):
        for smaller in (np.float16, np.float32):
            if np.array_equal(array.astype(smaller), array):
                return array.astype(smaller)
    return array


def tables_of(outputs: Outputs) -> dict[str, np.ndarray]:
    """Return the tables of scores and vectors by name, each in the fewest bytes that are exact."""
    tables = {"logits": outputs.logits, "reference": outputs.reference}
    tables |= {"features": outputs.features, "appearance": outputs.appearance}
    tables |= {f"partner.{place}": partner for place, partner in enumerate(outputs.partners)}
    return {name: narrow(table) for name, table in tables.items() if table is not None}


def outputs_of(arrays: Mapping[str, np.ndarray], labels: np.ndarray | None = None) -> Outputs:
    """Return outputs of what `tables_of` gave."""
    partners = [name for name in arrays if name.startswith("partner.")]
    partners = tuple(arrays[name] for name in sorted(partners, key=lambda name: int(name.partition(".")[2])))
    vectors = {name: arrays.get(name) for name in VECTORS}
    return Outputs(arrays["logits"], labels, arrays.get("reference"), partners, **vectors)


def fit_source(
    source: ScoreTable,
    settings: Settings,
    sizes: Sequence[int] = (USUAL_IMAGES,),
    progress: Progress | None = None,
    made: Mapping[str, str] | None = None,
) -> Watch:
    """Fit on a labelled source all that depends on nothing else; sizes: images that a period usually has."""
    known = Pass(source.with_vectors(), "reading the source", progress)
    known.require_labels("the source must say what its images are: add `labels`.")
    outputs = known.outputs
    usual = [
        name for name in DECIDING if outputs.reference is not None or "reference" not in find_estimator(name).needs
    ]
    names = settings.estimators or tuple(usual)
    fit_all(names, outputs, outputs)  # refuses what cannot be had
    watch = Watch(
        outputs, known.side, source.classnames, settings, names, Measured(), source_remarks(known), made or {}
    )
    quoting = watch.quoting(watch.measured, progress)
    quoting.require_testable()
    for size in sizes:
        if size < 1:
            raise OpenworldError(f"{size} images of a period are none; give how many it usually has.")
        if quoting.first is None:
            quoting.of_source(DECIDING[0], size)
        quoting.shift_test(size)
        if settings.alert is not None:
            quoting.limit(size)
    return watch
