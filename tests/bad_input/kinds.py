"""Some twenty kinds of bad value, and of odd ones that are as good as any, made from a good value of an argument.

`bad(value)` and `odd(value)` give kinds by name. A bad kind says what may come of it: REFUSED, an OpenworldError and
nothing else; or JUDGED, which may also be a right number, or None with a reason. An odd kind gives what its plain twin
gives.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

REFUSED, JUDGED = "refused", "judged"
Kinds = Mapping[str, tuple[str, Callable[[Any], Any]]]


class Junk:
    """What no function knows."""

    def __repr__(self):
        return "Junk()"


def bad(value: Any) -> Kinds:
    """Kinds of bad value for an argument with this good one."""
    if isinstance(value, np.ndarray):
        return _arrays_bad(value)
    if isinstance(value, Tensor):
        return _TENSORS_BAD if value.is_floating_point() else _TENSORS_BAD | _LABELS_BAD
    if isinstance(value, bool | int | float | str | Path):
        return _scalars_bad(value)
    return _OBJECTS_BAD


def odd(value: Any) -> Mapping[str, Callable[[Any], tuple[Any, Any]]]:
    """Kinds of odd but good value: (odd one, plain twin)."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        kinds = dict(_ARRAYS_ODD)
        return kinds | (_FLOATS_ODD if value.dtype.kind == "f" else _WHOLE_ODD)
    if isinstance(value, Tensor):
        return _TENSORS_ODD if value.is_floating_point() else {}
    if isinstance(value, list | tuple) and value and all(type(entry) in (int, float) for entry in value):
        return _SEQUENCES_ODD
    if isinstance(value, bool):
        return {"numpy bool": lambda v: (np.bool_(v), v)}
    if isinstance(value, int):
        return (
            {"numpy int": lambda v: (np.int64(v), v), "numpy uint": lambda v: (np.uint64(v), v)} if value >= 0 else {}
        )
    if isinstance(value, float):
        return {"numpy float": lambda v: (np.float64(v), v), "half": lambda v: (np.float16(v), float(np.float16(v)))}
    return {}


def _arrays_bad(value: np.ndarray) -> Kinds:
    kinds = dict(_ARRAYS_BAD)
    if value.dtype.kind == "f":
        return kinds | _FLOATS_BAD
    if value.dtype.kind == "b":
        return kinds | _NAN | {"two": (REFUSED, lambda v: _with(v.astype(int), 2)), "half": (REFUSED, _halves)}
    if value.dtype.kind in "iu":
        return kinds | _NAN | {"halves": (REFUSED, _halves)} | _LABELS_BAD
    return kinds  # text


def _with(value, entry):
    changed = np.array(value)
    changed.ravel()[0] = entry
    return changed


def _halves(value):
    return _with(value.astype(float), 0.5)


def _masked(value):
    return np.ma.array(value, mask=_with(np.zeros(value.shape, bool), True))


def _dates(value):
    return _with(np.zeros(value.shape, "M8[D]"), np.datetime64("NaT"))


def _records(value):
    return np.zeros(value.shape, [("a", "f8"), ("b", "i4")])


def _junk(value):
    return _with(value.astype(object), Junk())


def _huge(value):
    return _with(value.astype(object), 10**400)


def _ragged(value):
    return [[1.0], [1.0, 2.0], *value.tolist()]


def _missing(value):
    import pandas

    return pandas.array([True, None] * value.shape[0], dtype="boolean")[: max(2, value.shape[0])]


_ARRAYS_BAD: Kinds = {
    "None": (REFUSED, lambda v: None),
    "text": (REFUSED, lambda v: "text"),
    "array of text": (REFUSED, lambda v: np.full(v.shape, "x1")[..., None]),
    "bytes": (REFUSED, lambda v: b"bytes"),
    "number": (REFUSED, lambda v: 3.5),
    "bool": (REFUSED, lambda v: True),
    "mapping": (REFUSED, lambda v: {"a": 1}),
    "generator": (REFUSED, lambda v: iter([1, 2])),
    "masked": (REFUSED, _masked),
    "complex": (REFUSED, lambda v: np.zeros(v.shape, complex)),
    "dates": (REFUSED, _dates),
    "spans of time": (REFUSED, lambda v: np.ones(v.shape, "m8[s]")),
    "records": (REFUSED, _records),
    "objects": (REFUSED, _junk),
    "ragged": (REFUSED, _ragged),
    "integer of 400 digits": (REFUSED, _huge),
    "missing entry": (REFUSED, _missing),
    "two more dimensions": (REFUSED, lambda v: v[None, None]),
    "empty": (JUDGED, lambda v: v[:0]),
    "one entry": (JUDGED, lambda v: v[:1]),
    "one entry less": (JUDGED, lambda v: v[:-1]),
    "all equal": (JUDGED, lambda v: np.full_like(v, v.ravel()[0])),
}
_NAN: Kinds = {
    "NaN": (REFUSED, lambda v: _with(v.astype(float), np.nan)),
    "infinite": (REFUSED, lambda v: _with(v.astype(float), np.inf)),
}
_FLOATS_BAD: Kinds = {
    **_NAN,
    "all NaN": (REFUSED, lambda v: np.full(v.shape, np.nan)),
    "beyond float64": (REFUSED, lambda v: _with(v.astype(np.longdouble), np.longdouble("1e4000"))),
    "None within": (REFUSED, lambda v: _with(v.astype(object), None)),
    "negative": (JUDGED, lambda v: -v - 1),
    "1e300": (JUDGED, lambda v: _with(v, 1e300)),
    "-1e308": (JUDGED, lambda v: _with(v, -1e308)),
    "all 1e300": (JUDGED, lambda v: v * 1e300),
    "denormal": (JUDGED, lambda v: v * 5e-324),
    "tiny": (JUDGED, lambda v: v * 1e-200),
    "zeros": (JUDGED, np.zeros_like),
}
_LABELS_BAD: Kinds = {
    "negative": (JUDGED, lambda v: v - 10),
    "2^31": (JUDGED, lambda v: _filled(v, 2**31)),
    "2^40": (JUDGED, lambda v: _filled(v, 2**40)),
    "2^63 - 1": (JUDGED, lambda v: _filled(v, 2**63 - 1)),
    "2^64 - 1": (JUDGED, lambda v: _with(np.asarray(v).astype(np.uint64), 2**64 - 1)),
}


def _filled(value, entry):
    if isinstance(value, Tensor):
        value = value.clone()
        value[(0,) * value.dim()] = entry
        return value
    return _with(value.astype(np.int64), entry)


def _first(value: Tensor, entry) -> Tensor:
    changed = value.detach().clone().double()
    changed[(0,) * changed.dim()] = entry
    return changed


_TENSORS_BAD: Kinds = {
    "None": (REFUSED, lambda v: None),
    "text": (REFUSED, lambda v: "text"),
    "number": (REFUSED, lambda v: 3.5),
    "mapping": (REFUSED, lambda v: {"a": 1}),
    "junk": (REFUSED, lambda v: Junk()),
    "array of text": (REFUSED, lambda v: np.full(tuple(v.shape), "x1")),
    "masked": (REFUSED, lambda v: _masked(v.detach().numpy())),
    "dates": (REFUSED, lambda v: _dates(v.detach().numpy())),
    "complex": (REFUSED, lambda v: v.detach() + 1j),
    "NaN": (REFUSED, lambda v: _first(v, torch.nan)),
    "infinite": (REFUSED, lambda v: _first(v, torch.inf)),
    "two more dimensions": (REFUSED, lambda v: v[None, None]),
    "no dimension": (REFUSED, lambda v: v.flatten()[0]),
    "sparse": (REFUSED, lambda v: v.to_sparse()),
    "empty": (JUDGED, lambda v: v[:0]),
    "one entry": (JUDGED, lambda v: v[:1]),
    "one entry less": (JUDGED, lambda v: v[:-1]),
    "1e300": (JUDGED, lambda v: _first(v, 1e300)),
    "-1e308": (JUDGED, lambda v: _first(v, -1e308)),
    "denormal": (JUDGED, lambda v: v.double() * 5e-324),
    "zeros": (JUDGED, torch.zeros_like),
    "all equal": (JUDGED, torch.ones_like),
}


def _scalars_bad(value: Any) -> Kinds:
    kinds = dict(_SCALARS_BAD)
    if isinstance(value, str | Path):
        return kinds | {"number": (REFUSED, lambda v: 3), "bool": (REFUSED, lambda v: True), "NaN": _NOT_A_NUMBER}
    kinds |= {"text": (REFUSED, lambda v: "text"), "NaN": _NOT_A_NUMBER, "infinite": (REFUSED, lambda v: float("inf"))}
    if isinstance(value, bool):
        return kinds | {"number": (REFUSED, lambda v: 2), "None": (REFUSED, lambda v: None)}
    kinds |= {
        "bool": (REFUSED, lambda v: True),
        "zero": (JUDGED, lambda v: type(v)(0)),
        "negative": (JUDGED, lambda v: type(v)(-1)),
        "integer of 400 digits": (REFUSED, lambda v: 10**400),
        "Python cannot write": (REFUSED, lambda v: 10**5000),
    }
    if isinstance(value, int):
        return kinds | {
            "half": (REFUSED, lambda v: 0.5),
            "2^63": (REFUSED, lambda v: 2**63),
            "2^62": (JUDGED, lambda v: 2**62),
        }
    return kinds | {"1e300": (JUDGED, lambda v: 1e300), "denormal": (JUDGED, lambda v: 5e-324)}


_NOT_A_NUMBER = (REFUSED, lambda v: float("nan"))
_SCALARS_BAD: Kinds = {
    "None": (JUDGED, lambda v: None),
    "list": (REFUSED, lambda v: []),
    "mapping": (REFUSED, lambda v: {"a": 1}),
    "junk": (REFUSED, lambda v: Junk()),
    "complex": (REFUSED, lambda v: 1j),
    "date": (REFUSED, lambda v: np.datetime64("NaT")),
    "bytes": (REFUSED, lambda v: b"x"),
    "array": (REFUSED, lambda v: np.array([1.0, 2.0])),
    "tensor": (REFUSED, lambda v: torch.tensor([1.0, 2.0])),
    "unknown name": (REFUSED, lambda v: "no such thing"),
    "empty text": (REFUSED, lambda v: ""),
}
_OBJECTS_BAD: Kinds = {
    "None": (REFUSED, lambda v: None),
    "text": (REFUSED, lambda v: "text"),
    "number": (REFUSED, lambda v: 3),
    "NaN": _NOT_A_NUMBER,
    "bool": (REFUSED, lambda v: True),
    "junk": (REFUSED, lambda v: Junk()),
    "list of junk": (REFUSED, lambda v: [Junk()]),
    "list of None": (REFUSED, lambda v: [None, None]),
    "list of text": (REFUSED, lambda v: ["a", "b"]),
    "list of numbers": (REFUSED, lambda v: [1, 2, 3]),
    "empty list": (JUDGED, lambda v: []),
    "empty mapping": (JUDGED, lambda v: {}),
    "array": (REFUSED, lambda v: np.zeros((2, 2))),
    "complex": (REFUSED, lambda v: 1j),
    "dates": (REFUSED, lambda v: np.zeros(2, "M8[D]")),
}


def _backwards(value):
    return value[::-1].copy()[::-1]


def _every_other(value):
    return np.repeat(value, 2, axis=0)[::2]


def _read_only(value):
    kept = value.copy()
    kept.flags.writeable = False
    return kept


def _of_half(value):
    return value.astype(np.float16).astype(np.float64)


def _column(value):
    import pandas

    return pandas.Series(value)


_SEQUENCES_ODD = {
    "array": lambda v: (np.array(v), v),
    "tensor": lambda v: (torch.tensor(v, dtype=torch.float64 if float in map(type, v) else torch.int64), v),
    "column": lambda v: (_column(v), v),
    "numpy numbers": lambda v: (list(np.array(v)), v),
}
_ARRAYS_ODD = {
    "big-endian": lambda v: (v.astype(v.dtype.newbyteorder(">")), v),
    "backwards": lambda v: (_backwards(v), v),
    "every other": lambda v: (_every_other(v), v),
    "columns first": lambda v: (np.asfortranarray(v), v),
    "read-only": lambda v: (_read_only(v), v),
    "objects": lambda v: (v.astype(object), v),
    "list": lambda v: (v.tolist(), v),
    "mask that hides nothing": lambda v: (np.ma.array(v), v),
    "tensor": lambda v: (torch.tensor(v), v),
}
_FLOATS_ODD = {
    "half": lambda v: (v.astype(np.float16), _of_half(v)),
    "single": lambda v: (v.astype(np.float32), v.astype(np.float32).astype(np.float64)),
    "wide": lambda v: (v.astype(np.longdouble), v),
    "tensor with gradient": lambda v: (torch.tensor(v, requires_grad=True), v),
}
_WHOLE_ODD = {"small integers": lambda v: (v if v.dtype == bool else v.astype(np.int16), v)}
_TENSORS_ODD = {
    "every other": lambda v: (v.repeat_interleave(2, dim=0)[::2], v),
    "with gradient": lambda v: (v.clone().requires_grad_(), v),
    "columns first": lambda v: (v.transpose(0, -1).contiguous().transpose(0, -1), v),
    "half": lambda v: (v.half(), v.half().float()),
}
