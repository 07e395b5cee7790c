"""LAID, language-aligned image feature decomposition: an orthogonal matrix learned from texts (Long et al., 2024); PCA.

"Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox", section 2.1. Texts teach which half of
a rotated feature tells labels apart and which tells templates apart; images, aligned with texts, are split by the same
matrix. No code for it was published, and the paper gives neither margin nor weights nor schedule: defaults are ours.

PCA of mean texts is its baseline (Appendix B, Table 3). Features are row vectors, z = f W; the first half of z is
semantic, the second covariate; distance is 1 - cosine.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar, Literal

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from openworld.core.arrays import LARGEST, MOST, ArrayLike
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import Positive, Range, checked
from openworld.shifts._rows import as_matrix, as_texts, unit
from openworld.shifts.decomposition import HALVES, Decomposition, split_at
from openworld.shifts.matrices import (
    deviation,
    nearest_orthogonal,
    random_orthogonal,
    require_width,
    squared_deviation,
    turned,
    whitening,
)
from openworld.shifts.triplets import Triplets, draw_triplets, hold_out, triplets

HeldOut = Annotated[float, Range(0, 1, "[)")]
VALIDATED = 4096  # triplets of held-out texts
FASTEST = 1e38  # learning rates are float32
FARTHEST = 1e30  # margins beyond it leave float32
REMEMBERED = 20  # mean losses kept of the training
BELIEVED = 0.9  # share of held-out triplets in the right order below which a part is warned of


@dataclass(frozen=True, eq=False)
class TripletDistances:
    """Cosine distances from the standard texts, float[B] each, in [0, 2].

    semantic_alike: in the semantic half to the same label in another template, which should be near.
    semantic_other: in the semantic half to another label, which should be far.
    covariate_alike: in the covariate half to another label in the same template, which should be near.
    covariate_other: in the covariate half to another template, which should be far.
    """

    semantic_alike: Tensor
    semantic_other: Tensor
    covariate_alike: Tensor
    covariate_other: Tensor

    __repr__ = short_repr


@checked
def triplet_distances(matrix: Tensor, batch: Triplets, semantic_width: int | None = None) -> TripletDistances:
    """The four distances of every triplet under the matrix float[D, D]; semantic_width: None for half of D.

    >>> one, two = torch.eye(4)[:1], torch.eye(4)[1:2]
    >>> found = triplet_distances(torch.eye(4), Triplets(one + torch.eye(4)[2:3], two, one))
    >>> [round(float(d), 3) for d in (found.semantic_alike, found.semantic_other)]
    [0.0, 1.0]
    """
    types = {as_matrix(matrix, "the matrix").dtype}
    for name, rows in vars(batch).items():
        types.add(as_matrix(rows, f"the {name} features of the triplets", "[B, D]").dtype)
    if len(types) > 1:
        raise OpenworldError(f"the matrix is {matrix.dtype} and the triplets {batch.standard.dtype}; use one type.")
    if batch.standard.shape[1] != len(matrix):
        raise OpenworldError(f"the triplets have {batch.standard.shape[1]} features, the matrix {len(matrix)}.")
    return distances_under(matrix, batch, semantic_width)


def distances_under(matrix: Tensor, batch: Triplets, semantic_width: int | None) -> TripletDistances:
    half = split_at(matrix.shape[1], semantic_width)
    standard, other_label, other_template = (
        rows @ matrix for rows in (batch.standard, batch.semantic_shift, batch.covariate_shift)
    )

    def apart(first: Tensor, second: Tensor, part: slice) -> Tensor:
        return 1 - cosine_similarity(first[:, part], second[:, part], dim=1)

    semantic, covariate = slice(0, half), slice(half, None)
    return TripletDistances(
        apart(standard, other_template, semantic),
        apart(standard, other_label, semantic),
        apart(standard, other_label, covariate),
        apart(standard, other_template, covariate),
    )


@checked
def triplet_losses(
    distances: TripletDistances, margin: Annotated[float, Range(-FARTHEST, FARTHEST)], *, hinge: bool = True
) -> tuple[Tensor, Tensor]:
    """L_sem and L_cov, means over the triplets: near - far + margin, not below 0 with `hinge`.

    The paper prints no hinge; without it the margin has no gradient and losses fall without end, so it is the default.

    >>> alike, other = torch.tensor([0.2]), torch.tensor([0.4])
    >>> losses = triplet_losses(TripletDistances(alike, other, other, alike), margin=0.1)
    >>> [round(float(loss), 3) for loss in losses]
    [0.0, 0.3]
    """
    semantic = distances.semantic_alike - distances.semantic_other + margin
    covariate = distances.covariate_alike - distances.covariate_other + margin
    if hinge:
        semantic, covariate = semantic.clamp_min(0), covariate.clamp_min(0)
    return semantic.mean(), covariate.mean()


@checked
def share_right(distances: TripletDistances) -> tuple[float, float]:
    """Shares of triplets whose two distances stand in the right order, in the semantic and in the covariate half."""
    semantic = distances.semantic_alike < distances.semantic_other
    covariate = distances.covariate_alike < distances.covariate_other
    return float(semantic.to(torch.float64).mean()), float(covariate.to(torch.float64).mean())


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

    margin: Annotated[float, Range(0, FARTHEST)] = 0.5
    orthogonality: Literal["penalty", "construction"] = "penalty"
    weight: Annotated[float, Range(0, LARGEST)] = 1.0
    hinge: bool = True
    start: Literal["random", "identity"] = "random"
    steps: Annotated[int, Range(1, MOST["steps"])] = 5000
    batch_size: Positive = 256
    learning_rate: Annotated[float, Range(0, FASTEST, "()")] = 1e-3
    semantic_width: int | None = None
    whitened: int | None = None
    held_out: tuple[HeldOut, HeldOut] = (0.1, 0.2)

    name: ClassVar[str] = "LAID"
    paper: ClassVar[str] = "Long et al., 2024"

    @checked
    def loss(self, matrix: Tensor, batch: Triplets) -> dict[str, Tensor]:
        """The terms "semantic", "covariate", "orthogonality" and their weighted sum "total", 0-d each.

        Args:
            matrix: float[D, D], D even; features are row vectors, f W. batch: B triplets of features.
        Source: IS-OOD, Equations 2 and 3.
        """
        return self._terms(matrix, triplet_distances(matrix, batch, self.semantic_width))

    def _terms(self, matrix: Tensor, distances: TripletDistances) -> dict[str, Tensor]:
        semantic, covariate = triplet_losses(distances, self.margin, hinge=self.hinge)
        terms = {"semantic": semantic, "covariate": covariate, "orthogonality": squared_deviation(matrix)}
        weight = self.weight if self.orthogonality == "penalty" else 0.0
        return {**terms, "total": semantic + covariate + weight * terms["orthogonality"]}

    @checked
    def fit(self, texts: ArrayLike, *, seed: int = 0) -> Decomposition:
        """Learn the matrix from the features of S labels in C templates; see `write_texts`.

        Args:
            texts: float[S, C, D], D even, any lengths; array or tensor, trained on its device. Images of S things in
                C looks teach as well; see `image_grid`.
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
        some, other = hold_out("labels", labels, self.held_out[0], generator)
        some_templates, other_templates = hold_out("templates", templates, self.held_out[1], generator)
        white = None if self.whitened is None else whitening(features[some][:, some_templates], width)
        features = white.of(features) if white else features
        start = random_orthogonal(width, generator) if self.start == "random" else torch.eye(width)
        start = start.to(features.device, torch.float32)
        batches = triplets(features, some, some_templates, self.batch_size, generator)
        learned, history = self._descend(start, batches)
        matrix = nearest_orthogonal(learned)
        validation = self._shares(matrix, features, other, other_templates, seed)
        about = {
            "method": self.name,
            "settings": asdict(self),
            "seed": seed,
            "labels": labels,
            "templates": templates,
            "width": width,
            "history": history,
            "deviation": float(deviation(learned.to(torch.float64))),
            "training": self._shares(matrix, features, some, some_templates, seed),
            "validation": validation,
            "warnings": [
                _WARNING.format(half, share) for half, share in (validation or {}).items() if share < BELIEVED
            ],
        }
        halves = Decomposition.of_matrix(matrix, self.semantic_width, about)
        return white.before(halves) if white else halves

    def _descend(self, start: Tensor, batches: Iterator[Triplets]) -> tuple[Tensor, list[dict[str, Any]]]:
        """Return the matrix after the last step, and mean losses of up to `REMEMBERED` stretches of the training."""
        by_construction = self.orthogonality == "construction"
        free = torch.zeros_like(start) if by_construction else start.clone()
        free.requires_grad_(True)

        def matrix() -> Tensor:
            return turned(start, free) if by_construction else free

        optimizer = torch.optim.Adam([free], lr=self.learning_rate)
        stretch, losses, history = -(-self.steps // REMEMBERED), [], []
        for count in range(1, self.steps + 1):
            batch = Triplets(*(unit(part) for part in vars(next(batches)).values()))
            now = matrix()
            terms = self._terms(now, distances_under(now, batch, self.semantic_width))
            optimizer.zero_grad()
            terms["total"].backward()
            optimizer.step()
            losses.append({name: term.detach() for name, term in terms.items()})
            if len(losses) == stretch or count == self.steps:
                means = {name: float(torch.stack([step[name] for step in losses]).mean()) for name in losses[0]}
                if not all(mean < float("inf") for mean in means.values()):  # said so that NaN is caught too
                    raise OpenworldError("LAID diverged: a loss is not finite; lower the learning rate.")
                history.append({"step": count, **means})
                losses = []
        return matrix().detach(), history

    def _shares(self, matrix: Tensor, texts: Tensor, labels: Tensor, templates: Tensor, seed: int) -> dict | None:
        """Return shares of triplets in the right order; None without two labels and two templates."""
        if min(len(labels), len(templates)) < 2:
            return None
        batch = draw_triplets(texts, labels, templates, VALIDATED, seed)
        shares = share_right(triplet_distances(matrix, batch, self.semantic_width))
        return dict(zip(HALVES, shares, strict=True))


_WARNING = (
    "in the {} part {:.0%} of the triplets of held-out texts stand in the right order: it does not measure what its "
    "name says; look at the decomposed zero-shot table before using its degrees"
)


# The paper decomposes "in the semantic and covariate directions separately" and keeps 90 % of the variance. Here the
# semantic directions are those in which labels differ, averaged over templates, and the covariate ones those in which
# templates differ, averaged over labels: which directions it means is not said.
@checked
@dataclass(frozen=True)
class PCA:
    """The fewest leading directions of mean texts that hold a share of their variance: the baseline of LAID.

    Args:
        variance: share to keep, in (0, 1].

    >>> texts = torch.tensor([[[1.0, 0.0, 0.1], [1.0, 0.0, -0.1]], [[0.0, 1.0, 0.1], [0.0, 1.0, -0.1]]])
    >>> found = PCA().fit(texts)
    >>> found.semantic.abs().round(decimals=3).flatten().tolist(), found.covariate.abs().flatten().tolist()
    ([0.707..., 0.707..., 0.0], [0.0, 0.0, 1.0])
    """

    variance: Annotated[float, Range(0, 1, "(]")] = 0.9

    name: ClassVar[str] = "PCA"
    paper: ClassVar[str] = "Long et al., 2024"

    def fit(self, texts: ArrayLike) -> Decomposition:
        """Directions from the text features of S labels in C templates.

        Args:
            texts: float[S, C, D], any lengths; two or more labels and templates that differ.
        Returns:
            Decomposition, float32, with bases of their own widths.
        Raises:
            OpenworldError: another shape, NaN, a row of zeros, labels or templates that do not differ.
        """
        features = as_texts(texts)
        per_label = torch.stack([unit(row).to(torch.float64).mean(dim=0) for row in features])
        per_template = torch.as_tensor(sum(unit(row).to(torch.float64) for row in features)) / len(features)
        semantic, covariate = (
            self._directions(rows, name) for rows, name in ((per_label, "labels"), (per_template, "templates"))
        )
        about = {
            "method": self.name,
            "settings": asdict(self),
            "labels": len(per_label),
            "templates": len(per_template),
        }
        return Decomposition(semantic, covariate, about=about)

    def _directions(self, rows: Tensor, name: str) -> Tensor:
        """Return the fewest principal directions float32[D, A] of rows that hold the share of variance."""
        _, sizes, directions = torch.linalg.svd(rows - rows.mean(dim=0), full_matrices=False)
        held = sizes.square().cumsum(dim=0)
        if held[-1] <= 1e-12 * rows.square().sum():
            raise OpenworldError(f"the {name} do not differ, so they have no principal direction; give two that do.")
        count = int(torch.searchsorted(held / held[-1], self.variance * (1 - 1e-12))) + 1
        return directions[:count].T.to(torch.float32).contiguous()


DECOMPOSITIONS: dict[str, type] = {method.name: method for method in (LAID, PCA)}
"""Name -> class of every way to part meaning from appearance."""
