"""How long every estimator of a run takes; read without torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Seconds:
    """How long every estimator takes alone: to fit on the source, and to estimate one condition; by label.

    It lies beside the record, for it is another one every time.
    """

    fit: dict[str, float] = field(default_factory=dict)
    estimate: dict[str, float] = field(default_factory=dict)
    device: str = "an unknown device"

    @classmethod
    def of(cls, timing: Mapping[str, Any]) -> "Seconds":
        """Return what the clocks of a record say; nothing where they timed the unit as a whole."""
        seconds, stages = timing.get("seconds"), ("fit", "estimate")
        if not isinstance(seconds, Mapping) or not all(isinstance(seconds.get(stage), Mapping) for stage in stages):
            return cls()
        return cls(*(dict(seconds[stage]) for stage in stages), str(timing.get("device", cls.device)))

    @property
    def timing(self) -> dict[str, Any]:
        """What the clocks of a record hold."""
        return {"seconds": {"fit": self.fit, "estimate": self.estimate}, "device": self.device}
