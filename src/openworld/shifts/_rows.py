"""Feature matrices as tensors: read from any array, checked once, scaled to unit length."""

import numpy as np
import torch
from torch import Tensor

from openworld.core.arrays import LARGEST, as_array
from openworld.core.errors import OpenworldError

SQUARE = "[D, D]"
CHUNK = 2**12  # rows looked at or multiplied at a time, so that no second matrix of that size is made
_KEPT = (np.float16, np.float32, np.float64)
_SMALLEST = 1e-150  # what is smaller, or larger than its inverse, has squares that leave float64


def as_rows(values, name: str, *, width: int | None = None) -> Tensor:
    """Return a matrix of features as a floating tensor[N, D], every row finite and with a direction."""
    rows = as_tensor(values, name)
    if rows.dim() != 2 or not rows.shape[1]:
        raise OpenworldError(f"{name} has shape {list(rows.shape)}, expected [N, D]: one row of features each.")
    if width is not None and rows.shape[1] != width:
        raise OpenworldError(f"{name} has {rows.shape[1]} features a row, expected {width}: use one model for both.")
    for start in range(0, len(rows), CHUNK):
        # An infinite or NaN entry spoils the sum of its row, and a row of zeros has none: one pass finds all three.
        sizes = rows[start : start + CHUNK].abs().amax(dim=1).to(torch.float64)
        bad = torch.nonzero(~((sizes > _SMALLEST) & (sizes < 1 / _SMALLEST))).flatten()  # said so that NaN is found too
        if len(bad):
            first = int(bad[0])
            what = "is all zeros" if sizes[first] <= _SMALLEST else "holds NaN or infinity"
            raise OpenworldError(
                f"row {start + first} of {name} {what} (first of {len(bad)}), so it has no direction; repair it."
            )
    return rows


def as_matrix(values: Tensor, name: str, like: str = SQUARE) -> Tensor:
    """Return a dense floating tensor of two dimensions, without gradient, whose finite numbers have finite squares."""
    matrix = as_tensor(values, name)
    if matrix.dim() != 2 or not matrix.numel() or (like == SQUARE and len(matrix) != matrix.shape[1]):
        raise OpenworldError(f"{name} has shape {list(matrix.shape)}, expected {like}.")
    if not matrix.isfinite().all() or matrix.abs().max() > LARGEST:
        raise OpenworldError(f"{name} holds NaN, infinity or a number above {LARGEST:g}; make it again.")
    return matrix


def as_texts(values, name: str = "texts") -> Tensor:
    """Return features of all labels in all templates as a floating tensor[S, C, D]; checked like `as_rows`."""
    texts = as_tensor(values, name)
    if texts.dim() != 3 or not texts.numel():
        raise OpenworldError(f"{name} has shape {list(texts.shape)}, expected [labels, templates, D].")
    as_rows(texts.reshape(-1, texts.shape[2]), name)
    return texts


def unit(rows: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """Return rows divided by their length, computed in float32 at least, and then cast."""
    dtype = at_least_float32(rows.dtype) if dtype is None else dtype
    wide = rows.to(torch.promote_types(at_least_float32(rows.dtype), at_least_float32(dtype)))
    # Squares of small or large float32 numbers leave float32.
    lengths = torch.linalg.vector_norm(wide, dim=-1, keepdim=True, dtype=torch.float64)
    return (wide / lengths.to(wide)).to(dtype)


def exact_unit(rows: Tensor) -> Tensor:
    """Return rows divided by their length in float64, the same bits whatever the other rows and the machine."""
    wide = rows.to(torch.float64)
    return wide / sum_in_order(wide.square()).sqrt_()[..., None]


def sum_in_order(values: Tensor) -> Tensor:
    """Return sums over the last axis of float[..., D], by halving it; overwrites the values."""
    width = values.shape[-1]  # halved, so that no library chooses the order
    while width > 1:
        half = (width + 1) // 2
        values[..., : width - half] += values[..., half:width]
        width = half
    return values[..., 0]


def same_product(rows: Tensor, basis: Tensor, longest: float) -> Tensor:
    """Return rows @ basis, float64[n, D] and float64[D, A], the same bits in any blocks, threads and libraries."""
    # Libraries sum in orders of their own, which depend on the shape. Here both factors are first rounded to multiples
    # of a 2^-26th of `longest`, at least the length of each row, so that (Cauchy and Schwarz) all products and sums are
    # whole numbers below 2^53 and exact in any order. What that rounding does to unit vectors is less than float32
    # would do.
    row_step, step = longest * 2.0**-26, longest_of(basis.T) * 2.0**-26
    return ((rows / row_step).round_() @ (basis / step).round_()).mul_(row_step * step)


def longest_of(rows: Tensor) -> float:
    """Return the length of the longest row, as `exact_unit` finds it."""
    return float(sum_in_order(rows.to(torch.float64).square()).max().sqrt())


def at_least_float32(dtype: torch.dtype) -> torch.dtype:
    return torch.promote_types(dtype, torch.float32)


def as_tensor(values, name: str) -> Tensor:
    """Return a dense floating tensor, without its gradient: tensors as they are, anything else read by NumPy."""
    if not isinstance(values, Tensor):
        array = as_array(values, name)
        with np.errstate(over="ignore"):  # wider floats may become infinite, which is refused with their row
            array = array if array.dtype in _KEPT else array.astype(np.float64)
        # torch warns of read-only memory (a memory map) and cannot walk backwards, so those are read in.
        forwards = array.flags.writeable and all(stride >= 0 for stride in array.strides)
        values = torch.from_numpy(array if forwards else array.copy())
    if not values.is_floating_point() or values.layout != torch.strided:
        raise OpenworldError(f"{name} has dtype {values.dtype}, {values.layout}, expected dense floating numbers.")
    return values.detach()
