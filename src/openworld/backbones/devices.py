"""Which devices compute, the fastest there is or those that are named, and in which precision frozen towers do.

What is learned, and what is measured, stays in float32.
"""

from typing import Literal

import torch

from openworld.core.errors import OpenworldError

AUTO = "auto"


def find_devices(device: str) -> tuple[str, ...]:
    """Return the devices that the units of a run are spread over, such as ("cuda:0", "cuda:1")."""
    # "auto" is all GPUs, else "mps", else "cpu"; "cuda" all GPUs; GPUs may be listed with commas.
    names = tuple(name.strip() for name in (_fastest() if device == AUTO else device).split(","))
    for name in names:
        require_device(name)
    if len(names) > 1 and (len(set(names)) < len(names) or not all(name.startswith("cuda:") for name in names)):
        raise OpenworldError(
            f"--device is {device!r}; a list names GPUs by number, each of them once, such as cuda:0,cuda:1."
        )
    if names == ("cuda",) and torch.cuda.device_count() > 1:
        return tuple(f"cuda:{number}" for number in range(torch.cuda.device_count()))
    return names


def find_device(device: str) -> str:
    """Return the one device of a command without units to spread; "auto" is a GPU, else "mps", else "cpu"."""
    if "," in device:
        raise OpenworldError(f"--device is {device!r}; this command computes on one device, such as cuda:0.")
    name = _fastest() if device == AUTO else device
    require_device(name)
    return name


def require_device(name: str) -> None:
    """Refuse a device that is not there, before any work."""
    try:
        device = torch.device(name)
    except RuntimeError:
        raise OpenworldError(f"unknown device {name!r}; expected auto, cpu, cuda, cuda:1 or mps.") from None
    counts = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    if (device.index or 0) >= counts.get(device.type, 0):
        there = [kind if count == 1 else f"{kind}:0 to {kind}:{count - 1}" for kind, count in counts.items() if count]
        raise OpenworldError(f"device {name!r} is not on this machine, as torch sees it; it has {', '.join(there)}.")


def _fastest() -> str:
    if torch.cuda.device_count():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


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
