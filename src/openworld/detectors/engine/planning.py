"""The fewest passes that give all wanted detectors what they need, and early refusals where something is missing.

One forward pass serves all that look at features, logits and maps. Each direction in which images are moved costs one
backward pass, by the pixels alone, and each way of moving them one more forward: ODIN and AdaSCALE together cost five
passes, NAC, which asks how the layers' maps move the softmax, a backward pass, the rest of the detectors one in all.
MCDropout makes as many forward passes as it is told to, DeepEnsemble one for each classifier.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any

import torch
from torch import Tensor

from openworld.core.errors import OpenworldError
from openworld.core.reading import wrong
from openworld.core.types import Range, checked
from openworld.detectors.engine.activations import Activations
from openworld.detectors.engine.fit_statistics import FitStatistics, gather
from openworld.detectors.engine.fitted import FittedDetector, OODDetector, is_sequential, score_together
from openworld.detectors.engine.hooks import WatchedModel

MOST = 1_000_000_000  # training images; a sample of them draws a number for each


@dataclass(frozen=True, eq=False)
class DetectionPlan:
    """Detectors and the classifier that they judge; made by `plan`.

    Args:
        detectors: by a label of yours. model: the watched classifier.
        warnings: sentences on detectors that are known to fail on such models.
    """

    detectors: Mapping[str, OODDetector]
    model: WatchedModel
    warnings: tuple[str, ...] = ()

    @checked
    def fit(self, batches: Iterable[tuple[Tensor, Any]]) -> dict[str, FittedDetector]:
        """Fit all detectors in one pass over (images, labels); labels may be None where no detector needs them.

        Only what is learned from is computed: ODIN and RankFeat learn nothing and cost nothing here.
        Raises OpenworldError as `fit_together`.
        """
        return self.gather(batches).fit()

    @checked
    def gather(self, batches: Iterable[tuple[Tensor, Any]], *, start: int = 0) -> FitStatistics:
        """What `fit` learns from, of a shard of the training images; see `FitStatistics.merge`.

        Args:
            batches: (images, labels). start: how many training images come before the shard.
        """

        def of_learning(detector: OODDetector) -> set[str]:  # not of what is scored
            return {need for statistic in detector.gathers for need in statistic.needs}

        seen = self._wanted(self.detectors, of_learning)
        activations = (self.model.see(*_pair(batch), **seen) for batch in batches)
        first = next(activations, Activations(head=self.model.head))  # without any image, the head is known still
        return gather(self.detectors, chain([first], activations), start=start)

    @checked
    def score(
        self, fitted: Mapping[str, FittedDetector], batches: Iterable[Tensor | tuple[Tensor, Any]]
    ) -> dict[str, Tensor]:
        """Scores float[N] on the CPU by label, larger = more in-distribution, of images or (images, labels).

        Args:
            fitted: what `fit` gave. batches: float[B, ...] each.
        """
        scores_by_label = {label: [] for label in fitted}
        for _, scores in self.answers(fitted, batches):
            for label, values in scores.items():
                scores_by_label[label].append(values)
        return {label: torch.cat(parts) if parts else torch.empty(0) for label, parts in scores_by_label.items()}

    def answers(
        self, fitted: Mapping[str, FittedDetector], batches: Iterable[Tensor | tuple[Tensor, Any]]
    ) -> Iterator[tuple[Tensor, dict[str, Tensor]]]:
        """Yield of every batch the logits float[B, C] and the scores float[B] by label, on the CPU.

        Both come of the same passes. Arguments as for `score`.
        """
        detectors = {label: detector.detector for label, detector in fitted.items()}
        seen = self._wanted(detectors, lambda detector: detector.needs)
        for batch in batches:
            with torch.no_grad():
                activations = self.model.see(_pair(batch)[0], **seen)
                scores = score_together(fitted, activations)
                on_cpu = {label: values.cpu() for label, values in scores.items()}
            yield activations.logits.cpu(), on_cpu

    def _wanted(self, detectors: Mapping[str, Any], needs: Callable[[Any], Iterable[str]]) -> dict[str, Any]:
        """Return what `WatchedModel.see` is to catch for the detectors, by what each looks at."""
        # A dictionary by need keeps each perturbation, layer and sampling once, in the order of the detectors.
        looking_at = defaultdict(list)
        for detector in detectors.values():
            for need in needs(detector):
                looking_at[need].append(detector)
        layers = [getattr(detector, "layers", ()) or self.model.layers for detector in looking_at["layers"]]
        return {
            "maps": bool(looking_at["maps"]),
            "perturbations": tuple(dict.fromkeys(detector.perturbation for detector in looking_at["gradient"])),
            "layers": tuple(dict.fromkeys(name for names in layers for name in names)),
            "layer_gradients": bool(looking_at["layer gradients"]),
            "samplings": tuple(dict.fromkeys(detector.sampling for detector in looking_at["samples"])),
        }


@checked
def plan(detectors: Mapping[str, OODDetector] | Iterable[OODDetector], model: WatchedModel) -> DetectionPlan:
    """Plan the fewest passes for some detectors, and refuse at once what cannot work.

    Args:
        detectors: instances, by a label of yours, or a list: then by their names, which must differ.
        model: of `watch`.
    Raises:
        OpenworldError: no detector, two of one name in a list, one that needs maps, pixels or texts that are not there,
            one that is sequential.

    >>> from openworld.detectors import KNN, MSP, watch
    >>> model = watch(torch.nn.Sequential(torch.nn.Linear(4, 2)).eval(), torch.zeros(1, 4))
    >>> route = plan([MSP(), KNN(k=1)], model)
    >>> fitted = route.fit([(torch.eye(4), None)])
    >>> route.score(fitted, [torch.eye(4)])["KNN"].tolist()
    [-0.0, -0.0, -0.0, -0.0]
    """
    labelled = _label(detectors)
    for label, detector in labelled.items():
        model.require(
            label,
            maps="maps" in detector.needs,
            in_pixels="gradient" in detector.needs and detector.perturbation.in_pixels,
            layers=getattr(detector, "layers", ()) if "layers" in detector.needs else None,
            samplings=[detector.sampling] if "samples" in detector.needs else (),
        )
        if {"texts", "patches"} & set(detector.needs):
            raise OpenworldError(
                f"{label} compares with class names and needs a two-tower model; read its features with "
                "`activations_of(clip, features, texts)` and score those."
            )
        if is_sequential(detector):
            raise OpenworldError(
                f"{label} remembers the images that it scores, and a plan scores them batch by batch; give the "
                "features of all images to `score_stream`."
            )
    weak = {label: getattr(detector, "weak_on", {}).get(model.family) for label, detector in labelled.items()}
    warnings = tuple(
        f"{label} is known to be weak on a {model.family}: {how} (OpenOOD v1.5, ImageNet-1K)."
        for label, how in weak.items()
        if how is not None
    )
    return DetectionPlan(labelled, model, warnings)


@checked
def require_images(detectors: Mapping[str, OODDetector], images: Annotated[int, Range(0, MOST)]) -> None:
    """Refuse, before any pass, detectors for which so many training images are too few: KNN, NNGuide.

    Args:
        detectors: by a label of yours. images: how many there will be to learn from.
    Raises:
        OpenworldError: the first of them; what it asks for, and what it would have.

    >>> from openworld.detectors import KNN, MSP
    >>> require_images({"MSP": MSP(), "KNN": KNN(k=3)}, 3)
    """
    for detector in detectors.values():
        getattr(detector, "require_images", lambda images: None)(images)


def _label(detectors: Mapping[str, OODDetector] | Iterable[OODDetector]) -> dict[str, Any]:
    """Detectors by label; some say which layers they look at, and how images are moved or sampled."""
    is_mapping = isinstance(detectors, Mapping)
    pairs: list[tuple[Any, Any]] = list(detectors.items()) if is_mapping else [(None, each) for each in detectors]
    if not pairs:
        raise OpenworldError("there is no detector to plan for; pass one at least.")
    for label, detector in pairs:
        if not all(hasattr(detector, part) for part in ("name", "needs", "fit")):
            raise wrong(detector, "a detector, such as KNN()", "detectors")
        if isinstance(detector, type):
            called = label or detector.name
            raise OpenworldError(f"{called} came as a class, expected an instance: {detector.__name__}().")
    labelled = {label or detector.name: detector for label, detector in pairs}
    if len(labelled) < len(pairs):
        raise OpenworldError("two detectors have one name; pass a mapping from labels of yours to detectors.")
    return labelled


def _pair(batch) -> tuple[Tensor, Any]:
    return (batch[0], batch[1]) if isinstance(batch, (tuple, list)) and len(batch) == 2 else (batch, None)
