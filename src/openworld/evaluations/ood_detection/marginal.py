"""Images of other classes that a model takes for known ones: the marginal images of IS-OOD (Figures 2 and 20).

Out of distribution by label, near in meaning by measurement. Among those of the nearest semantic level the ones are
kept that a detector accepts most surely, with what the model names them and how confident it is, and beside each the
test image of that class of which the detector is surest.
"""

from collections.abc import Iterator

import numpy as np

from openworld.evaluations.images_to_score import ReadableImages
from openworld.evaluations.model_entries import JudgedSpec
from openworld.evaluations.model_scores import ModelScores
from openworld.evaluations.ood_detection.record import THUMBNAILS, MarginalImage, MarginalImages
from openworld.evaluations.record_images import thumbnail
from openworld.evaluations.shift_cells import DividedPool
from openworld.metrics import fpr_in_positive

SHOWN = 8
BY = "MSP"


def marginal_images(
    model: JudgedSpec, test: ReadableImages, divided: DividedPool, scores: ModelScores
) -> MarginalImages | None:
    """Return the marginal images of a pool; None where it has no image of another class."""
    others, level = ~divided.known, divided.levels["semantic"]
    if not others.any():
        return None
    nearest = int(level[others].min())
    near = np.flatnonzero(others & (level == nearest))
    label = next((own.label for own in model.detectors if own.detector == BY), model.detectors[0].label)
    score = scores.pool[label]
    surest = near[np.argsort(-score[near], kind="stable")]
    _, first = np.unique(divided.pool.images.groups[divided.rows[surest]], return_index=True)
    chosen = surest[np.sort(first)[:SHOWN]]
    predicted = scores.probabilities(chosen)
    accepted = fpr_in_positive(scores.test[label], score[near]).value
    examples: dict[int, int | None] = {}  # of each class the test image of which the detector is surest
    for name in np.unique(predicted.argmax(axis=1)).tolist():
        of_class = np.flatnonzero(test.images.labels[test.rows] == name)
        examples[name] = int(test.rows[of_class[scores.test[label][of_class].argmax()]]) if of_class.size else None
    pool, images = divided.pool.images, []
    for place, row in zip(chosen.tolist(), predicted, strict=True):
        number, name = int(divided.rows[place]), int(row.argmax())
        images.append(
            MarginalImage(
                id=number,
                label=pool.classnames[pool.labels[number]],
                prediction=test.images.classnames[name],
                confidence=float(row[name]),
                score=float(score[place]),
                covariate_level=int(divided.levels["covariate"][place]),
                known=examples[name],
            )
        )
    return MarginalImages(label, nearest, len(near), accepted, tuple(images))


def marginal_thumbnails(
    marginal: MarginalImages | None, test: ReadableImages, divided: DividedPool
) -> Iterator[tuple[str, bytes]]:
    """Yield thumbnails of marginal images and of the known ones beside them; none of embeddings."""
    pool = divided.pool.images
    if marginal is None or pool.embeddings is not None:
        return
    for image in marginal.images:
        yield f"{THUMBNAILS}/{image.id}.png", thumbnail(pool.image(image.id))
    if test.images.embeddings is None:
        for known in sorted({image.known for image in marginal.images} - {None}):
            yield f"{THUMBNAILS}/known-{known}.png", thumbnail(test.images.image(known))
