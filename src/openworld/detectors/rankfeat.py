"""RankFeat: energy of maps without their largest singular component (Song et al., 2022, "RankFeat: Rank-1 Feature
Removal for Out-of-distribution Detection"), from the last two blocks together as in OpenOOD@3c35632."""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from torch import Tensor

from openworld._errors import unknown_name
from openworld._types import checked
from openworld.detectors.engine.activations import Activations, Maps
from openworld.detectors.engine.fit_statistics import Fittable
from openworld.detectors.engine.rank_one import without_largest
from openworld.detectors.engine.settings import require_positive

Blocks = Literal["both", "last", "before"]


@checked
@dataclass(frozen=True)
class RankFeat(Fittable):
    """T log sum exp(z / T), z the mean of the logits of the last stage's maps X - s u v^T and of those before it.

    Args:
        blocks: "both"; "last": maps that leave the last stage alone; "before": those that enter it, through the stage.
        temperature: T > 0.

    >>> import torch
    >>> from openworld.detectors.engine.head import Head
    >>> late = torch.tensor([[[[3.0, 0.0]], [[0.0, 2.0]]]])  # without its largest component (0, 2), pooled to 1
    >>> activations = Activations(late.mean((2, 3)), Head(torch.eye(2)), maps=Maps(late, late, lambda maps: maps))
    >>> round(RankFeat("last").fit().score(activations).item(), 4)  # log(1 + e)
    1.3133
    """

    blocks: Blocks = "both"
    temperature: float = 1.0

    name: ClassVar[str] = "RankFeat"
    paper: ClassVar[str] = "Song et al., 2022"
    summary: ClassVar[str] = "energy of maps less a rank"
    needs: ClassVar[tuple[str, ...]] = ("head", "maps")

    def __post_init__(self):
        if self.blocks not in get_args(Blocks):
            raise unknown_name("choice of blocks", self.blocks, get_args(Blocks))
        require_positive(temperature=self.temperature)

    def read(self, state: None, activations: Activations) -> Tensor:
        """Scores float[N]."""
        logits = [activations.head.logits(pooled) for pooled in self._pool(activations.maps)]
        return self.temperature * (sum(logits) / len(logits) / self.temperature).logsumexp(dim=1)

    def _pool(self, maps: Maps) -> list[Tensor]:
        pooled = []
        if self.blocks != "before":
            pooled.append(without_largest(maps.late.float()).mean(dim=(2, 3)))
        if self.blocks != "last":
            reduced = without_largest(maps.early.float()).to(maps.early.dtype)
            pooled.append(maps.last_stage(reduced).float().mean(dim=(2, 3)))
        return pooled
