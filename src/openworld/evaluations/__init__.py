"""The papers' evaluations, one file each: what is run, and what is computed from saved scores.

A protocol's module holds its spec, and `tasks`, `encode_all`, `fingerprints`, `units`, `run_unit` and `summary` of it;
instead of `encode_all` perhaps `preparations`, where more is to be done before the units than encoding.

All of it is imported when it is first asked for: scoring saved predictions needs no torch.
"""

from importlib import import_module

__all__ = (
    "PROTOCOLS",
    "AccuracyEstimationSpec",
    "DecomposedZeroShotSpec",
    "DynamicSpec",
    "GeneralisationSpec",
    "IncrementalShiftSpec",
    "OpenWorldShiftSpec",
    "RecognitionSpec",
    "module_of",
    "read_protocol",
    "stages_of",
)


def __getattr__(name: str):
    if name in __all__:
        return getattr(import_module(f"{__name__}.registry"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
