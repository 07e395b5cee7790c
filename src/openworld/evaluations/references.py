"""How similar reference models find pictures and class names: what FRAP and its kin are told beside the logits."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch
from torch.nn.functional import normalize

from openworld.datasets import templates
from openworld.estimators import dirichlet_reference, uniform_reference
from openworld.evaluations.classifiers import of_reference
from openworld.evaluations.entries import ReferenceSpec
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.model_outputs import logits_of
from openworld.evaluations.runtime import Machine, backbone, encoded
from openworld.learners.engine.text_features import encode_names


def similarities(
    reference: ReferenceSpec, selection: ImageSelection, rows: np.ndarray, dataset: str, machine: Machine
) -> np.ndarray:
    """What a reference says of pictures.

    Args:
        reference: which; a random one is drawn anew for each set of pictures.
        pictures: N of them, as all models have seen them.
        rows: int64[n], the ones that could be read.
        dataset: whose sentences are the usual ones.

    Returns:
        float[n, C], cosines of a backbone, logits of a classifier.
    """
    if reference.backbone:
        return _cosines(reference, selection, dataset, machine)
    if reference.classifier:
        return logits_of(selection, of_reference(reference), machine)[rows]
    images = selection.load()
    if reference.name == "uniform":
        return uniform_reference(len(rows), len(images.classnames))
    return dirichlet_reference(len(rows), len(images.classnames), seed=int(images.fingerprint[:8], 16))


def own_temperature(reference: ReferenceSpec, machine: Machine) -> float:
    """The temperature that it speaks with by itself: 1 / its logit scale; 1 for a classifier."""
    return 1 / float(backbone(reference.backbone, machine.device).logit_scale) if reference.backbone else 1.0


def class_texts(reference: ReferenceSpec, names: Sequence[str], dataset: str, machine: Machine) -> torch.Tensor:
    """float32[C, D] on the CPU: what the backbone of a reference makes of class names in its sentences; unit length."""
    known = {"usual": (templates.TEMPLATES.get(dataset, templates.PHOTO),), "ensemble": templates.ensemble(dataset)}
    chosen = known[reference.templates] if isinstance(reference.templates, str) else reference.templates
    return _text(reference.backbone, chosen, tuple(names), machine.device)


def _cosines(reference: ReferenceSpec, selection: ImageSelection, dataset: str, machine: Machine) -> np.ndarray:
    text = class_texts(reference, selection.load().classnames, dataset, machine)
    embeddings = torch.from_numpy(encoded(selection.load(), reference.backbone, machine).embeddings)
    return (normalize(embeddings, dim=-1) @ text.mT).numpy()


@lru_cache(maxsize=8)
@torch.no_grad()
def _text(name: str, sentences: tuple[str, ...], names: tuple[str, ...], device: str) -> torch.Tensor:
    """Features of sentences around class names, averaged."""
    return encode_names(backbone(name, device), names, sentences).cpu()
