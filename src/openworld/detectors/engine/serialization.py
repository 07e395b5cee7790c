"""What detectors learned, in one sealed safetensors file: dataclasses of tensors taken apart, no pickle.

A class is named, and found again only among the dataclasses of the module that brings the detector or statistic whose
state it is. Nothing is imported, and no constructor runs, because a file names it. Bounded by what is learned: a few MB
for covariances and heads, the whole bank for KNN; what is written together shares whatever tensor it has in common.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from openworld.core.errors import OpenworldError
from openworld.detectors.engine.head import Head
from openworld.detectors.engine.texts import Texts
from openworld.runs import to_json
from openworld.runs.sealed import read_arrays, write_arrays

FITTED = "a file of fitted detectors (`FittedDetector.save`, `save_together`)"
GATHERED = "a file of gathered statistics (`FitStatistics.save`)"
OURS = {"Head": Head, "Texts": Texts}
Found = TypeVar("Found")


def write(path: Path | str, kind: str, form: dict, tensors: Mapping[str, Tensor]) -> None:
    """Write a form and its tensors as a file of a kind."""
    try:
        write_arrays(Path(path), kind, form, {name: value.detach().cpu().numpy() for name, value in tensors.items()})
    except OSError as error:
        raise OpenworldError(f"{path} cannot be written ({error}); choose another place.") from error


def read(path: Path | str, kind: str, device: str, build: Callable[[dict, dict[str, Tensor]], Found]) -> Found:
    """Return what `build` makes of the form and the tensors of a file of a kind."""

    def found(form: dict, arrays: dict[str, np.ndarray], _: str) -> Found:
        try:
            # Copied: in the file they are not aligned, on which the last bit of a product depends.
            tensors = {name: torch.from_numpy(array).clone().to(device) for name, array in arrays.items()}
        except (RuntimeError, AssertionError) as error:  # the latter where torch knows no such kind of device
            reason = str(error).partition("\n")[0]
            raise OpenworldError(
                f"{path} cannot be read to device {device!r} ({reason}); give one that is here."
            ) from error
        return build(form, tensors)

    return read_arrays(Path(path), kind, found)


def settings_of(detector: Any) -> dict:
    """Return what a file says of a detector."""
    return {"name": detector.name, "settings": to_json(detector, f"{detector.name}'s settings")}


def detector_of(form: dict, kinds: Iterable[Any]) -> Any:
    """Return the detector that a file says; of `kinds`, ours or a plug-in's."""
    from openworld.detectors import find_detector

    kind = {kind.name: kind for kind in kinds}.get(form["name"]) or find_detector(form["name"])
    return kind(**form["settings"])


PLAIN = (bool, int, float, str, type(None))


def classes_beside(owner: Any) -> dict[str, type]:
    """Dataclasses by name in the modules of an object's class, of what it inherits from, and of its fields."""
    parts = [owner, *(getattr(owner, field.name) for field in fields(owner))] if is_dataclass(owner) else [owner]
    kinds = [kind for part in parts if part is owner or is_dataclass(part) for kind in reversed(type(part).__mro__)]
    modules = [sys.modules[kind.__module__] for kind in kinds]
    kinds = [kind for module in modules for kind in vars(module).values() if isinstance(kind, type)]
    return {kind.__name__: kind for kind in kinds if is_dataclass(kind)}


def take_apart(value: Any, where: str, tensors: dict[str, Tensor], classes: Mapping[str, type]) -> Any:
    """What JSON can hold of a value, its tensors put into `tensors` under names that start with `where`."""
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, Tensor):
        # Matrices keep their order in memory, on which the last bit of a product depends: eigenvectors come by columns.
        by_columns = value.dim() == 2 and value.stride(0) < value.stride(1)
        rows = value.mT if by_columns else value
        # A tensor that is there already, under whatever name, is kept once: heads, and their biases in masked heads.
        name = next((name for name, tensor in tensors.items() if _place(tensor) == _place(rows)), where)
        tensors[name] = rows
        return {"tensor": name, "shape": list(value.shape)} | ({"by_columns": True} if by_columns else {})
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, tuple):
        return [take_apart(part, f"{where}.{place}", tensors, classes) for place, part in enumerate(value)]
    if is_dataclass(value) and classes.get(type(value).__name__) is type(value):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        taken = {name: take_apart(part, f"{where}.{name}", tensors, classes) for name, part in parts.items()}
        return {"class": type(value).__name__, "fields": taken}
    raise OpenworldError(
        f"{where} holds a {type(value).__name__}, which cannot be written to a file; keep what is learned in tensors, "
        "numbers, texts, None, tuples and dataclasses of these that the detector's module defines or imports."
    )


def put_together(form: Any, tensors: Mapping[str, Tensor], classes: Mapping[str, type]) -> Any:
    """What `take_apart` took apart; raises KeyError or ValueError where the form does not fit."""
    if isinstance(form, PLAIN):
        return form
    if isinstance(form, list):
        return tuple(put_together(part, tensors, classes) for part in form)
    if "tensor" in form:
        tensor = tensors[form["tensor"]]
        tensor = tensor.mT if form.get("by_columns") else tensor
        if list(tensor.shape) != form.get("shape", list(tensor.shape)):  # files of the first version do not tell shapes
            raise ValueError(f"{form['tensor']} has shape {list(tensor.shape)}, written was {form['shape']}")
        return tensor
    if "dtype" in form:
        return {str(dtype).removeprefix("torch."): dtype for dtype in (torch.float32, torch.float64)}[form["dtype"]]
    kind: Any = classes[form["class"]]
    if {field.name for field in fields(kind)} != set(form["fields"]):
        raise ValueError(f"{kind.__name__} has other fields in this version")
    # Not by its constructor: text embeddings, say, would be divided by their length a second time, and scores move.
    made = object.__new__(kind)
    for name, part in form["fields"].items():
        object.__setattr__(made, name, put_together(part, tensors, classes))
    return made


def _place(tensor: Tensor) -> tuple:
    return tensor.device, tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride()
