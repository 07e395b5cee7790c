"""Figures 6 and 10 to 13 of OpenworldAUC (Hua et al., 2025): what is run for K, shots, lambda and the mixture.

The grids of K and lambda are printed in pictures only: {2, 3, 4, 5} and {0, 0.1, 0.5, 1, 2} are ours, around what is
published. Which competitors are swept over the shots is not said: they are those of Table 14.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.recognition.spec import RecognitionSpec
from openworld.learners import override
from openworld.papers import published_numbers
from openworld.reproduction.openworldauc import LEARNERS, METHODS, PUBLISHED_TASK, STAND_INS
from openworld.reproduction.settings import PlannedRun, ReproductionSetup

METHOD, BASELINE = "GMoP", "CLIP"
SHOTS = (1, 2, 4, 8, 16)
Variants = Mapping[str, Mapping[str, Any]]
"""What a variant of GMoP is called -> its settings, none of the published one."""

PARTITIONS: Variants = {f"GMoP, K = {count}": {"detectors": count} for count in (2, 4, 5)}
WEIGHTS: Variants = {f"GMoP, lambda = {weight:g}": {"alpha": weight} for weight in (0.0, 0.1, 1.0, 2.0)}
MIXTURES: Variants = {
    "GMoP w/o ZS h": {"new_classifier": "tuned"},
    "GMoP single prompt": {"single_prompt": True},
}
"""The new classes' names by a prompt that was tuned on base classes; one prompt for all three roles."""


@dataclass(frozen=True)
class FigureSweep:
    """What one kind of figure varies, and on which data sets.

    Args:
        name: of its runs, before the data set.
        datasets: as the paper calls them; the main text shows the first.
        learners: (setup, data) -> what is compared.
        shots: training images of each class; () for the paper's.
    """

    name: str
    datasets: tuple[str, ...]
    learners: Callable[[ReproductionSetup, DatasetSpec], Mapping[str, LearnerSpec]]
    shots: tuple[int, ...] = ()

    def runs(self, setup: ReproductionSetup, datasets: Iterable[str]) -> Iterator[PlannedRun]:
        """Yield one run per data set, or stand-in, of those named; none where no method or data set is asked for."""
        for data in dict.fromkeys(setup.place(title, STAND_INS) for title in datasets if setup.keeps_data(title)):
            learners = self.learners(setup, data)
            if learners:
                yield self._run(setup, data, learners)

    def _run(self, setup: ReproductionSetup, data: DatasetSpec, learners: Mapping[str, LearnerSpec]) -> PlannedRun:
        shared = LEARNERS.settings((), data, setup) | {"learners": tuple(learners.values())}
        shared |= {"shots": self.shots} if self.shots else {}
        shared |= {"dataset": data.dataset, "train_domain": data.domain, "published_names": data.published_names}
        spec = RecognitionSpec(keep_validation=False, keep_learners=False, **shared)
        fewer = [name for name in learners if name in METHODS] if setup.learners and self.shots else ()
        methods = {learner.label: name for name, learner in learners.items()}
        return PlannedRun(f"{self.name}-{data.dataset}{setup.suffix(*fewer)}", spec, setup.titles([data]), methods)


def _variants(variants: Variants) -> Callable[[ReproductionSetup, DatasetSpec], dict[str, LearnerSpec]]:
    """The published mixture, then its variants, with the settings that suit the data."""

    def learners(setup: ReproductionSetup, data: DatasetSpec) -> dict[str, LearnerSpec]:
        if not setup.keeps(METHOD, METHODS[METHOD]):
            return {}
        usual = setup.changes.methods(METHODS)[METHOD]
        entries = {METHOD: usual} | {
            name: replace(usual, label=name, settings=override(usual.settings, settings))
            for name, settings in variants.items()
        }
        return {name: setup.learner(entry, data.dataset, PUBLISHED_TASK) for name, entry in entries.items()}

    return learners


def _competitors(setup: ReproductionSetup, data: DatasetSpec) -> dict[str, LearnerSpec]:
    """CLIP and the methods of Table 14; of all methods those that are asked for, where any is."""
    named = {BASELINE} | {number.method for number in published_numbers("openworldauc", "14")}
    every = setup.methods(METHODS)
    chosen = {name: entry for name, entry in every.items() if setup.learners or name in named or name not in METHODS}
    return {name: setup.learner(entry, data.dataset, PUBLISHED_TASK) for name, entry in chosen.items()}


SWEEPS: dict[str, FigureSweep] = {
    sweep.name: sweep
    for sweep in (
        FigureSweep("partitions", ("Flowers102", "SUN397"), _variants(PARTITIONS)),
        FigureSweep("shots", ("DTD", "OxfordPets"), _competitors, SHOTS),
        FigureSweep("lambda", ("Caltech101", "Food101"), _variants(WEIGHTS)),
        FigureSweep(
            "mixture",
            ("ImageNet", "StanfordCars", "DTD", "Flowers102", "SUN397", "UCF101"),
            _variants(MIXTURES),
        ),
    )
}
"""Name -> what varies."""
