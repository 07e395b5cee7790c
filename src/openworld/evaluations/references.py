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
    """Return float[n, C], cosines of a backbone in the sentences of `dataset`, or logits of a classifier.

    They are of the rows int64[n] that could be read; a random reference is drawn anew for each set of images.
    """
    if reference.backbone:
        text = class_texts(reference, selection.load().classnames, dataset, machine)
        embeddings = torch.from_numpy(encoded(selection.load(), reference.backbone, machine).embeddings)
        return (normalize(embeddings, dim=-1) @ text.mT).numpy()
    if reference.classifier:
        return logits_of(selection, of_reference(reference), machine)[rows]
    images = selection.load()
    if reference.name == "uniform":
        return uniform_reference(len(rows), len(images.classnames))
    return dirichlet_reference(len(rows), len(images.classnames), seed=int(images.fingerprint[:8], 16))


def own_temperature(reference: ReferenceSpec, machine: Machine) -> float:
    """Return the temperature that it speaks with by itself: 1 / its logit scale; 1 for a classifier."""
    return 1 / float(backbone(reference.backbone, machine.device).logit_scale) if reference.backbone else 1.0


def class_texts(reference: ReferenceSpec, names: Sequence[str], dataset: str, machine: Machine) -> torch.Tensor:
    """Return features of class names in the sentences of a reference, float32[C, D] on the CPU, of length 1."""
    known = {"usual": (templates.TEMPLATES.get(dataset, templates.PHOTO),), "ensemble": templates.ensemble(dataset)}
    chosen = known[reference.templates] if isinstance(reference.templates, str) else reference.templates
    return _text(reference.backbone, chosen, tuple(names), machine.device)


@lru_cache(maxsize=8)
@torch.no_grad()
def _text(name: str, sentences: tuple[str, ...], names: tuple[str, ...], device: str) -> torch.Tensor:
    return encode_names(backbone(name, device), names, sentences).cpu()
