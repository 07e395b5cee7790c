"""PCA of mean texts, the baseline of LAID (Long et al., 2024, IS-OOD, Appendix B, Table 3).

The paper decomposes "in the semantic and covariate directions separately" and keeps 90 % of the variance. Here the
semantic directions are those in which labels differ, averaged over templates, and the covariate ones those in which
templates differ, averaged over labels: which directions it means is not said.
"""

from dataclasses import asdict, dataclass
from typing import Annotated, ClassVar

import torch
from torch import Tensor

from openworld.core.arrays import ArrayLike
from openworld.core.errors import OpenworldError
from openworld.core.types import Range, checked
from openworld.shifts._rows import as_texts, unit
from openworld.shifts.decomposition import Decomposition


@checked
@dataclass(frozen=True)
class PCA:
    """The fewest leading directions of mean texts that hold a share of their variance.

    Args:
        variance: share to keep, in (0, 1].
        centred: take the mean text away from features before they are projected. Directions are those of the centred
            means either way.

    >>> texts = torch.tensor([[[1.0, 0.0, 0.1], [1.0, 0.0, -0.1]], [[0.0, 1.0, 0.1], [0.0, 1.0, -0.1]]])
    >>> found = PCA().fit(texts)
    >>> found.semantic.abs().round(decimals=3).flatten().tolist(), found.covariate.abs().flatten().tolist()
    ([0.707..., 0.707..., 0.0], [0.0, 0.0, 1.0])
    """

    variance: Annotated[float, Range(0, 1, "(]")] = 0.9
    centred: bool = False

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
        centre = per_label.mean(dim=0).to(torch.float32) if self.centred else None
        about = {
            "method": self.name,
            "settings": asdict(self),
            "labels": len(per_label),
            "templates": len(per_template),
        }
        return Decomposition(semantic, covariate, centre, centre, about)

    def _directions(self, rows: Tensor, name: str) -> Tensor:
        """Return the fewest principal directions float32[D, A] of rows that hold the share of variance."""
        _, sizes, directions = torch.linalg.svd(rows - rows.mean(dim=0), full_matrices=False)
        held = sizes.square().cumsum(dim=0)
        if held[-1] <= 1e-12 * rows.square().sum():
            raise OpenworldError(f"the {name} do not differ, so they have no principal direction; give two that do.")
        count = int(torch.searchsorted(held / held[-1], self.variance * (1 - 1e-12))) + 1
        return directions[:count].T.to(torch.float32).contiguous()
