"""A plan of what to label: frozen before the first label is seen, and stored without loss."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from typing import Annotated, Any, Literal

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import Count, Range, checked
from openworld.labels.streams import NAMES, ScoredStream
from openworld.metrics import Outcomes

VERSION = 1
DESIGNS = {
    "stratified": "a fixed number of each of a few strata of images whose labels tell about as much",
    "random": "all images alike",
    "poisson": "each image by itself, with a probability in proportion to what its label tells",
}
"""Name -> how images are drawn."""
AUTO = "auto"
"""Drawn at random unless labels that came already show that strata are worth it."""
EXPECTED = ("base_right", "new_right", "base", "new", "right")


@checked
@dataclass(frozen=True)
class PlanSettings:
    """How images are drawn.

    design: "stratified" (strata of fixed size), "poisson" (each image by itself) or "random" (all alike); "auto" is
    "random" unless labels that came already show that "stratified" is worth it, and a plan holds which it was. even:
    share of the labels that goes to all images alike, whatever the proxies say. labels_per_side: labels that each side
    should get, as far as the proxies can tell. seed: of the draw.
    """

    design: Literal["auto", "stratified", "random", "poisson"] = AUTO
    even: Annotated[float, Range(0.01, 1)] = 0.5
    labels_per_side: Count = 20
    seed: int = 0


@dataclass(frozen=True, eq=False)
class LabelPlan:
    """Which of N images to label, and everything that their labels must be read with.

    streams: one model, or the two to compare. of: the quantity that the draw serves. chosen: int64[n], the images in
    the order to label. inclusion: float64[N], the probability q with which each was drawn; 1 where its outcome is known
    beforehand, 0 for no image. stratum: int64[N]; -1 where the outcome is known beforehand. spread: float64[N], tau.
    known: int64, images labelled in earlier batches. earlier: fingerprints of those batches. batch_weights: what each
    batch counts, this one last; they add up to 1.
    """

    streams: tuple[ScoredStream, ...]
    of: str
    settings: PlanSettings
    chosen: np.ndarray
    inclusion: np.ndarray
    stratum: np.ndarray
    spread: np.ndarray
    known: np.ndarray
    earlier: tuple[str, ...] = ()
    batch_weights: tuple[float, ...] = (1.0,)
    __repr__ = short_repr

    def __len__(self) -> int:
        return self.chosen.size

    @property
    def is_poisson(self) -> bool:
        """Whether each image was drawn by itself."""
        return self.settings.design == "poisson"

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the scores, the proxies, the draw and its settings."""
        digest = sha256(json.dumps([self._head(), [stream.fingerprint for stream in self.streams]]).encode())
        for array in (self.chosen, self.inclusion, self.stratum, self.known):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return everything as named arrays for one .npz file; what is no array is JSON in `metadata`."""
        arrays = {name: getattr(self, name) for name in ("chosen", "inclusion", "stratum", "spread", "known")}
        for place, stream in enumerate(self.streams):
            arrays |= {f"stream{place}.{name}": array for name, array in stream.arrays().items()}
        return arrays | {"metadata": np.array(json.dumps(self._head() | {"fingerprint": self.fingerprint}))}

    @classmethod
    @checked
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "LabelPlan":
        """Read what `to_arrays` gave.

        Raises:
            OpenworldError: it is no plan, or not as it was stored.
        """
        try:
            head = json.loads(str(np.asarray(arrays["metadata"])[()]))
            if head["version"] != VERSION:
                raise OpenworldError(f"this plan has version {head['version']}, expected {VERSION}; use its openworld.")
            streams = []
            for prefix in (f"stream{place}." for place in range(head["streams"])):
                fields = {
                    name.removeprefix(prefix): np.array(arrays[name]) for name in arrays if name.startswith(prefix)
                }
                expected: dict[str, Any] = {name: fields.get(name) for name in EXPECTED}
                names: dict[str, Any] = {name: fields.get(name) for name in NAMES}
                streams.append(ScoredStream(fields["scores"], Outcomes(**expected), **names))
            drawn = {name: np.array(arrays[name]) for name in ("chosen", "inclusion", "stratum", "spread", "known")}
            plan = cls(
                tuple(streams),
                head["of"],
                PlanSettings(**head["settings"]),
                **drawn,
                earlier=tuple(head["earlier"]),
                batch_weights=tuple(head["batch_weights"]),
            )
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            raise OpenworldError(f"these arrays are no stored plan of labels: {error}; make one by `plan`.") from error
        if plan.fingerprint != head["fingerprint"]:
            raise OpenworldError("this plan is not as it was stored: scores, proxies or draw were changed; plan anew.")
        return plan

    def _head(self) -> dict:
        return {
            "version": VERSION,
            "of": self.of,
            "settings": asdict(self.settings),
            "streams": len(self.streams),
            "earlier": list(self.earlier),
            "batch_weights": list(self.batch_weights),
        }
