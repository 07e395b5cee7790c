"""LAID, language-aligned image feature decomposition: an orthogonal matrix learned from texts (Long et al., 2024).

"Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox", section 2.1. Texts teach which half of
a rotated feature tells labels apart and which tells templates apart; images, aligned with texts, are split by the same
matrix. No code for it was published, and the paper gives neither margin nor weights nor schedule: defaults are ours.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, get_args

import torch
from torch import Tensor

from openworld._arrays import require_at_least
from openworld._errors import OpenworldError, unknown_name
from openworld._types import checked
from openworld.shifts._rows import as_texts, unit
from openworld.shifts.decomposition import Decomposition, split_at
from openworld.shifts.losses import distances_under, share_right, triplet_distances, triplet_losses
from openworld.shifts.orthogonal import deviation, nearest_orthogonal, random_orthogonal, squared_deviation, turned
from openworld.shifts.triplets import Triplets, draw_triplets, hold_out, triplets
from openworld.shifts.whitening import require_width, whitening

Orthogonality = Literal["penalty", "construction"]
VALIDATED = 4096  # triplets of held-out texts
FASTEST = 1e38  # learning rates are float32
REMEMBERED = 20  # mean losses kept of the training
BELIEVED = 0.9  # share of held-out triplets in the right order below which a part is warned of


@checked
@dataclass(frozen=True)
class LAID:
    """L = L_sem + L_cov + weight |W'W - I|^2 over random triplets, by Adam; the nearest orthogonal matrix at the end.

    Args:
        margin: of the triplet losses, at least 0 (cosine distances lie in [0, 2]).
        orthogonality: "penalty" as in the paper, or "construction": W = W0 exp(A - A') is orthogonal at every step.
        weight: of the penalty, at least 0.
        hinge: cut losses at 0; see `triplet_losses`.
        start: W0, "random" (uniform over the orthogonal matrices) or "identity".
        steps, batch_size: steps of Adam and triplets in each, at least 1.
        learning_rate: of Adam, constant, above 0.
        semantic_width: how many numbers of D are semantic, None for half of them as in the paper. The covariate part
            must be narrow where texts say little of looks: what room it has to spare, meaning takes.
        whitened: so many numbers features are whitened to before they are turned, as in `whitening`; D is that number
            then. None for features as they are, as in the paper.
        held_out: shares of labels and of templates kept for validation, in [0, 1); 0 for none.

    Raises:
        OpenworldError: a setting outside its range.
    """

    margin: float = 0.5
    orthogonality: Orthogonality = "penalty"
    weight: float = 1.0
    hinge: bool = True
    start: Literal["random", "identity"] = "random"
    steps: int = 5000
    batch_size: int = 256
    learning_rate: float = 1e-3
    semantic_width: int | None = None
    whitened: int | None = None
    held_out: tuple[float, float] = (0.1, 0.2)

    name: ClassVar[str] = "LAID"
    paper: ClassVar[str] = "Long et al., 2024"

    def __post_init__(self):
        require_at_least(0, margin=self.margin, weight=self.weight)
        require_at_least(1, steps=self.steps, batch_size=self.batch_size)
        if not 0 < self.learning_rate < FASTEST:
            raise OpenworldError(f"learning_rate is {self.learning_rate}, expected one above 0 and below {FASTEST:g}.")
        for name, value, known in (
            ("orthogonality", self.orthogonality, get_args(Orthogonality)),
            ("start", self.start, ("random", "identity")),
        ):
            if value not in known:
                raise unknown_name(name, value, known)

    @checked
    def loss(self, matrix: Tensor, batch: Triplets) -> dict[str, Tensor]:
        """The terms "semantic", "covariate", "orthogonality" and their weighted sum "total", 0-d each.

        Args:
            matrix: float[D, D], D even; features are row vectors, f W. batch: B triplets of features.
        Source: IS-OOD, Equations 2 and 3.
        """
        triplet_distances(matrix, batch, self.semantic_width)  # refuses what does not fit
        return self._loss(matrix, batch)

    def _loss(self, matrix: Tensor, batch: Triplets) -> dict[str, Tensor]:
        distances = distances_under(matrix, batch, self.semantic_width)
        semantic, covariate = triplet_losses(distances, self.margin, hinge=self.hinge)
        terms = {"semantic": semantic, "covariate": covariate, "orthogonality": squared_deviation(matrix)}
        weight = self.weight if self.orthogonality == "penalty" else 0.0
        return {**terms, "total": semantic + covariate + weight * terms["orthogonality"]}

    @checked
    def fit(self, texts, *, seed: int = 0) -> Decomposition:
        """Learn the matrix from the features of S labels in C templates; see `write_texts`.

        Args:
            texts: float[S, C, D], D even, any lengths; array or tensor, trained on its device. Pictures of S things in
                C looks teach as well; see `picture_grid`.
            seed: of the start, the held-out texts and the triplets.
        Returns:
            Decomposition, float32; `about` tells settings, sizes, mean losses on the way, the deviation from an
            orthogonal matrix before the end, and the validation: shares of triplets of held-out labels and templates
            whose distances stand in the right order, in both halves (None where nothing is held out); and warnings,
            a sentence for each half in which too few do.
        Raises:
            OpenworldError: another shape, an odd D, NaN, a row of zeros, too few labels or templates, a loss that is
                not finite.
        """
        features = as_texts(texts)
        labels, templates, _ = features.shape
        width = features.shape[2] if self.whitened is None else require_width(self.whitened, features.shape[2])
        split_at(width, self.semantic_width)  # refused before anything is trained
        generator = torch.Generator().manual_seed(seed)
        held = hold_out(labels, templates, self.held_out, generator)
        white = None if self.whitened is None else whitening(features[held.labels][:, held.templates], width)
        features = white.of(features) if white else features
        start = random_orthogonal(width, generator) if self.start == "random" else torch.eye(width)
        start = start.to(features.device, torch.float32)
        batches = triplets(features, held.labels, held.templates, self.batch_size, generator)
        learned, history = self._descend(start, batches)
        matrix = nearest_orthogonal(learned)
        validation = self._shares(matrix, features, held.validation_labels, held.validation_templates, seed)
        about = {
            "method": self.name,
            "settings": asdict(self),
            "seed": seed,
            "labels": labels,
            "templates": templates,
            "width": width,
            "history": history,
            "deviation": float(deviation(learned.to(torch.float64))),
            "training": self._shares(matrix, features, held.labels, held.templates, seed),
            "validation": validation,
            "warnings": [
                _WARNING.format(half, share) for half, share in (validation or {}).items() if share < BELIEVED
            ],
        }
        halves = Decomposition.of_matrix(matrix, self.semantic_width, about)
        return white.before(halves) if white else halves

    def _descend(self, start: Tensor, batches: Iterator[Triplets]) -> tuple[Tensor, list[dict[str, Any]]]:
        """Return the matrix after the last step, and mean losses of up to `REMEMBERED` stretches of the training."""
        free = torch.zeros_like(start) if self.orthogonality == "construction" else start.clone()
        free.requires_grad_(True)
        optimizer = torch.optim.Adam([free], lr=self.learning_rate)
        stretch, kept, history = -(-self.steps // REMEMBERED), [], []
        for step in range(1, self.steps + 1):
            terms = self._loss(self._matrix(start, free), _unit(next(batches)))
            optimizer.zero_grad()
            terms["total"].backward()
            optimizer.step()
            kept.append({name: term.detach() for name, term in terms.items()})
            if len(kept) == stretch or step == self.steps:
                history.append({"step": step, **_means(kept)})
                kept = []
        return self._matrix(start, free).detach(), history

    def _matrix(self, start: Tensor, free: Tensor) -> Tensor:
        return turned(start, free) if self.orthogonality == "construction" else free

    def _shares(self, matrix: Tensor, texts: Tensor, labels: Tensor, templates: Tensor, seed: int) -> dict | None:
        """Return shares of triplets in the right order; None without two labels and two templates."""
        if min(len(labels), len(templates)) < 2:
            return None
        batch = draw_triplets(texts, labels, templates, VALIDATED, seed)
        semantic, covariate = share_right(triplet_distances(matrix, batch, self.semantic_width))
        return {"semantic": semantic, "covariate": covariate}


_WARNING = (
    "in the {} part {:.0%} of the triplets of held-out texts stand in the right order: it does not measure what its "
    "name says; look at the decomposed zero-shot table before using its degrees"
)


def _unit(batch: Triplets) -> Triplets:
    return Triplets(unit(batch.standard), unit(batch.semantic_shift), unit(batch.covariate_shift))


def _means(steps: list[dict[str, Tensor]]) -> dict[str, float]:
    means = {name: float(torch.stack([step[name] for step in steps]).mean()) for name in steps[0]}
    if not all(value < float("inf") for value in means.values()):  # said so that NaN is caught too
        raise OpenworldError("LAID diverged: a loss is not finite; lower the learning rate.")
    return means
