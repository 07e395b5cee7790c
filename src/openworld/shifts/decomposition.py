"""Features split into what is shown (semantic) and how it looks (covariate): two linear maps, saved as safetensors.

With LAID the maps are the two halves of one orthogonal matrix (Long et al., 2024, "Rethinking the Evaluation of
Out-of-Distribution Detection: A Sorites Paradox", Equation 1); with PCA they are the leading directions of two sets of
mean texts, and need not be perpendicular to each other.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from openworld.core.arrays import ArrayLike
from openworld.core.errors import OpenworldError
from openworld.core.plain_files import parse_json
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.metrics.by_cell import HALVES as HALVES
from openworld.runs.atomic import write_file
from openworld.shifts._rows import CHUNK, as_matrix, as_rows, at_least_float32, exact_unit, longest_of, same_product


@checked
@dataclass(frozen=True, eq=False)
class Decomposition:
    """Two linear maps of unit features: z = (f / |f| - centre) basis.

    Args:
        semantic, covariate: bases float[D, A] and float[D, B], in columns.
        semantic_centre, covariate_centre: float[D] to take away first, or None.
        about: how it was made, as JSON knows it: method, settings, seed, sizes, validation.

    >>> swap = Decomposition(torch.tensor([[0.0], [1.0]]), torch.tensor([[1.0], [0.0]]))
    >>> [half.tolist() for half in swap.halves([[3.0, 4.0]])]
    [[[0.8]], [[0.6]]]
    """

    semantic: Tensor
    covariate: Tensor
    semantic_centre: Tensor | None = None
    covariate_centre: Tensor | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    __repr__ = short_repr

    def __post_init__(self):
        for half in HALVES:
            object.__setattr__(self, half, as_matrix(getattr(self, half), f"the {half} basis", "[D, A]"))
        for half, centre in zip(HALVES, self._centres, strict=True):
            if centre is None:
                continue
            if centre.shape != (self.width,):
                raise OpenworldError(
                    f"the {half} centre has shape {list(centre.shape)}, expected [{self.width}] like the features."
                )
            object.__setattr__(self, f"{half}_centre", as_matrix(centre[None], f"the {half} centre", "[1, D]")[0])
        if len(self.semantic) != len(self.covariate):
            raise OpenworldError(
                f"the bases have shapes {list(self.semantic.shape)} and {list(self.covariate.shape)}, expected [D, A] "
                "and [D, B] for the same features."
            )

    @classmethod
    @checked
    def of_matrix(
        cls, matrix: Tensor, semantic_width: int | None = None, about: Mapping[str, Any] | None = None
    ) -> "Decomposition":
        """The first `semantic_width` columns of float[D, D], None for half of them, and the others."""
        matrix = as_matrix(matrix, "the matrix")
        width = split_at(len(matrix), semantic_width)
        return cls(matrix[:, :width].contiguous(), matrix[:, width:].contiguous(), about=about or {})

    @property
    def width(self) -> int:
        """How many numbers a feature has, D."""
        return len(self.semantic)

    @checked
    def halves(self, features: ArrayLike) -> tuple[Tensor, Tensor]:
        """Semantic and covariate parts of features.

        Args:
            features: float[N, D] of any lengths, array or tensor; looked at in chunks.
        Returns:
            float[N, A] and float[N, B] on the device of the features; float64 for float64, else float32, and then the
            same bits of a row whatever rows stand beside it.
        Raises:
            OpenworldError: another width, NaN, infinity, a row of zeros.
        """
        rows = as_rows(features, "features", width=self.width)
        dtype = at_least_float32(rows.dtype)
        made = tuple(rows.new_empty(len(rows), basis.shape[1], dtype=dtype) for basis in self._bases)
        for start in range(0, len(rows), CHUNK):
            units = exact_unit(rows[start : start + CHUNK])
            for out, basis, centre in zip(made, self._bases, self._centres, strict=True):
                moved = units if centre is None else units - centre.to(units)
                longest = 1.0 if centre is None else 1.0 + longest_of(centre[None])
                exact = dtype == torch.float64
                part = moved @ basis.to(units) if exact else same_product(moved, basis.to(units), longest)
                out[start : start + CHUNK] = part
        return made[0], made[1]

    def save(self, path: Path) -> None:
        """Write one safetensors file, `about` in its header."""
        write_file(Path(path), self.to_bytes())

    def to_bytes(self) -> bytes:
        """The bytes that `save` writes."""
        from safetensors.torch import save

        tensors = {name: getattr(self, name) for name in (*HALVES, "semantic_centre", "covariate_centre")}
        # Clones, because safetensors refuses tensors that share memory, as the two centres of PCA do.
        arrays = {
            name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items() if tensor is not None
        }
        return save(arrays, metadata={"about": json.dumps(dict(self.about), sort_keys=True)})

    @property
    def _bases(self) -> tuple[Tensor, Tensor]:
        return self.semantic, self.covariate

    @property
    def _centres(self) -> tuple[Tensor | None, Tensor | None]:
        return self.semantic_centre, self.covariate_centre


def split_at(width: int, semantic_width: int | None) -> int:
    """Return how many of `width` numbers are semantic: what was asked, or half; raises where none or all would be."""
    if semantic_width is None and width % 2:
        raise OpenworldError(f"features have {width} numbers, which cannot be halved; say semantic_width.")
    wanted = width // 2 if semantic_width is None else semantic_width
    if not 0 < wanted < width:
        raise OpenworldError(f"semantic_width is {wanted}, expected 1 to {width - 1}, of features of {width} numbers.")
    return wanted


@checked
def load_decomposition(path: Path | str) -> Decomposition:
    """Read what `Decomposition.save` wrote.

    Raises:
        OpenworldError: no such file, or another kind of file.
    """
    from safetensors import SafetensorError, safe_open

    if not Path(path).is_file():
        raise OpenworldError(f"there is no file {path}; give one that `Decomposition.save` wrote, or fit one again.")
    try:
        with safe_open(Path(path), "pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
            about = parse_json((file.metadata() or {})["about"])
        return Decomposition(**tensors, about=about)
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise OpenworldError(f"{path} holds no decomposition ({error}); give a file that `save` wrote.") from error
