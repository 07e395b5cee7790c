"""What is seen of images by a two-tower model: embeddings, and class names as a head."""

import torch
from torch.nn.functional import normalize

from openworld._errors import OpenworldError
from openworld._types import checked
from openworld.backbones import DualEncoder
from openworld.detectors.engine.activations import Activations
from openworld.detectors.engine.head import Head
from openworld.detectors.engine.texts import Texts
from openworld.features import Features


@torch.no_grad()
@checked
def activations_of(clip: DualEncoder, features: Features, texts: Texts, head: Head | None = None) -> Activations:
    """Encoded images, ready for any detector.

    The head is the model's zero-shot classifier over unit embeddings, so that MSP, Energy, KNN, MDS and the like run on
    two-tower models too; a head of your own, such as `linear_probe(activations.features, activations.labels)`,
    takes its place where there are training images. Labels are those of the encoded set, and are right
    only where its classes are those of the texts.

    Args:
        clip: the backbone that encoded them. features: encoded images, with patches for GL-MCM.
        texts: class names as `encode_texts` gives them. head: of as many classes, over unit embeddings.
    Raises:
        OpenworldError: features of another width than the backbone's, a head of another number of classes.
    """
    embeddings = torch.from_numpy(features.embeddings[:]).to(clip.device).float()
    if embeddings.shape[1] != clip.config.joint_dimension:
        raise OpenworldError(
            f"features have width {embeddings.shape[1]}, the backbone {clip.name!r} {clip.config.joint_dimension}; "
            "encode them with this backbone."
        )
    if head is not None and head.classes != len(texts.own):
        raise OpenworldError(f"the head has {head.classes} classes, the texts {len(texts.own)}; name the same classes.")
    unit = normalize(embeddings, dim=1)
    patches = None
    if features.patches is not None:
        rows = torch.from_numpy(features.patches[:]).to(clip.device, clip.dtype)
        patches = clip.project_patches(rows).float()
    same = len(features.classnames) == len(texts.own)
    return Activations(
        unit,
        head or Head.of_texts(texts.own.to(unit), clip.logit_scale.float()),
        labels=torch.from_numpy(features.labels[:]).to(clip.device) if same else None,
        texts=texts.to(unit),
        patches=patches,
    )
