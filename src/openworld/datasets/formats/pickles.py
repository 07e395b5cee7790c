"""Reading old pickles without running what they say: plain values and arrays of numbers, nothing else.

A pickle is a program: `pickle.load` calls whatever it names. Here the few names that an array needs resolve to
stand-ins of our own, which note what the pickle tells and check it, and every other name is refused.
"""

import io
import pickle
import pickletools
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import require_plain


def read_pickle(path: Path) -> dict[str, Any]:
    """Return a pickled dict whose keys are text, as in CIFAR's files; text of Python 2 is read as Latin-1."""
    require_plain(path)
    try:
        held = path.read_bytes()
        # A number that no honest pickle reaches would make the table of noted values as long.
        for operation, number, _ in pickletools.genops(held):
            if operation.name in ("PUT", "BINPUT", "LONG_BINPUT") and int(number or 0) > len(held):
                raise OpenworldError(f"notes a value under the number {number}; do not trust it, get it again.")
        content = _PlainUnpickler(io.BytesIO(held), encoding="latin1").load()
    except FileNotFoundError:
        raise OpenworldError(f"there is no file {path}.") from None
    except OpenworldError as error:
        raise OpenworldError(f"{path} {error}") from None
    except Exception as error:  # a damaged pickle is a damaged program: it may fail in any way
        raise OpenworldError(f"{path} cannot be read as a pickle ({error}); get it again.") from error
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise OpenworldError(f"{path} holds no dict with text for keys, as CIFAR's files do; get it again.")
    return {key: value.array if isinstance(value, _Array) else value for key, value in content.items()}


class _NumberType:
    """Stands for numpy.dtype: numbers of a known size, and their byte order."""

    def __init__(self, kind, *_):
        if not isinstance(kind, str) or kind[:1] not in "biuf" or not kind[1:].isdecimal():
            raise OpenworldError(f"holds an array of {kind!r}, expected numbers; get it again.")
        self.dtype = np.dtype(kind)

    def __setstate__(self, state):
        self.dtype = self.dtype.newbyteorder(state[1])


class _Array:
    """Stands for an array, which the pickle makes empty and then fills."""

    array = np.empty(0, np.uint8)

    def __setstate__(self, state):
        _, shape, kind, is_fortran, held = state
        raw = held.encode("latin1") if isinstance(held, str) else held
        self.array = np.frombuffer(raw, kind.dtype).reshape(shape, order="F" if is_fortran else "C")


def _empty_array(*_) -> _Array:
    """Stands for numpy's _reconstruct."""
    return _Array()


def _encode(text: str, encoding: str) -> bytes:
    """Stands for codecs.encode, by which Python 3 writes bytes into an old pickle."""
    if encoding not in ("latin1", "latin-1"):
        raise OpenworldError(f"holds bytes encoded as {encoding!r}; get it again.")
    return text.encode("latin1")


_ALLOWED = {
    ("numpy", "ndarray"): None,  # named, never called
    ("numpy", "dtype"): _NumberType,
    ("numpy.core.multiarray", "_reconstruct"): _empty_array,
    ("numpy._core.multiarray", "_reconstruct"): _empty_array,
    ("_codecs", "encode"): _encode,
}


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise OpenworldError(f"names {module}.{name}, which no data file needs; do not trust it, get it again.")
        stand_in = _ALLOWED[module, name]
        if not isinstance(stand_in, FunctionType):
            return stand_in
        # A new object each time: a pickle may set attributes of what it names.
        return lambda *given: stand_in(*given)
