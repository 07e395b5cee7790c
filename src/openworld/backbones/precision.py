"""In which precision frozen towers compute; what is learned, and what is measured, stays in float32."""

from typing import Literal

import torch

Precision = Literal["float32", "tf32", "bfloat16", "float16"]

DTYPES: dict[Precision, torch.dtype] = {
    "float32": torch.float32,
    "tf32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}
"""The type of the weights."""


def allow_tf32(allowed: bool) -> None:
    """Let products of float32 matrices round their factors to TF32 (10 bits) in this process, or not."""
    # A GPU of the Ampere generation or later then multiplies several times as fast; others compute in float32 still.
    torch.set_float32_matmul_precision("high" if allowed else "highest")
    torch.backends.cudnn.allow_tf32 = allowed  # of convolutions; True where nobody says so


def tf32_allowed() -> bool:
    return torch.get_float32_matmul_precision() != "highest"
