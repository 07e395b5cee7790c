"""A plan on disk: what was drawn, with which probabilities, what answers mean; one file, whole or not at all."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.labels import LabelPlan
from openworld.own_data.label.question import Names
from openworld.runs import read_spec
from openworld.runs.atomic import write_file
from openworld.runs.sealed import read_arrays, sealed_bytes

PLAN = "plan.safetensors"
KIND = "the plan of `openworld label plan`"
_STREAM = "stream"


@dataclass(frozen=True)
class KeptBatch:
    """What was drawn at one time: names as the models give them, of each image in the order in which to label."""

    mark: str  # what its worksheet and its answers carry
    ids: tuple[str, ...]
    names: tuple[Names, ...]
    # of every model, the name of each image among all names; None where one has none
    joint: tuple[tuple[str, ...], ...] | None

    def __len__(self) -> int:
        return len(self.ids)

    def file(self, name: str, place: int) -> str:
        """Return the name of a file of the batch at a place from 0: the second worksheet is worksheet-2.csv."""
        stem, dot, ending = name.partition(".")
        return name if place == 0 else f"{stem}-{place + 1}{dot}{ending}"


@dataclass(frozen=True)
class KeptPlan:
    """A plan with all of its batches."""

    stream: str
    sources: tuple[str, ...]  # where the streams were read from, "" of arrays
    models: tuple[str, ...]
    base_names: tuple[str, ...]
    new_names: tuple[str, ...]
    closed: bool  # whether only "is the name right?" is asked
    left_out: int  # images of the stream that had labels
    batches: tuple[KeptBatch, ...]
    plans: tuple[LabelPlan, ...]
    groups: np.ndarray | None = None  # int64[N]; None where every image is a group of its own

    __repr__ = short_repr

    @property
    def size(self) -> int:
        return len(self.plans[0].streams[0])

    @property
    def asked(self) -> int:
        """How many images are to be labelled."""
        return sum(map(len, self.batches))

    def to_bytes(self) -> bytes:
        """Return the plan as a safetensors file; what batches share lies there once."""
        arrays, heads = {}, []
        for place, plan in enumerate(self.plans):
            own = plan.to_arrays()
            heads.append(str(own.pop("metadata")))
            for name, array in own.items():
                first = arrays.get(f"0.{name}") if name.startswith(_STREAM) else None
                if first is None or not np.array_equal(first, array):  # later proxies may be recalibrated
                    arrays[f"{place}.{name}"] = np.ascontiguousarray(array)
        if self.groups is not None:
            arrays["groups"] = np.ascontiguousarray(self.groups)
        fields = ("stream", "sources", "models", "base_names", "new_names", "closed", "left_out")
        about: dict[str, Any] = {name: getattr(self, name) for name in fields}
        about |= {"batches": [asdict(batch) for batch in self.batches], "plans": heads}
        return sealed_bytes(KIND, about, arrays)[0]

    def write(self, folder: Path) -> None:
        write_file(folder / PLAN, self.to_bytes())


def read_plan(folder: Path) -> KeptPlan:
    """Read the plan of a folder; it is refused where it is damaged or of another version."""
    path = folder / PLAN
    if not path.is_file():
        raise OpenworldError(f"{folder} holds no {PLAN}; give the folder that `openworld label plan` wrote.")
    return read_arrays(path, KIND, _plan_of)


def _plan_of(about: dict[str, Any], arrays: Mapping[str, np.ndarray], _: str) -> KeptPlan:
    shared = {name.removeprefix("0."): array for name, array in arrays.items() if name.startswith(f"0.{_STREAM}")}
    plans = []
    for place, head in enumerate(about.pop("plans")):
        start = f"{place}."
        apart = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
        plans.append(LabelPlan.from_arrays(shared | apart | {"metadata": np.array(head)}))
    batches = tuple(read_spec(batch, KeptBatch) for batch in about.pop("batches"))
    about = {name: tuple(value) if isinstance(value, list) else value for name, value in about.items()}
    return KeptPlan(**about, batches=batches, plans=tuple(plans), groups=arrays.get("groups"))
