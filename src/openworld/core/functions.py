"""Functions of a user's own code, named as "package.module:function"."""

import hashlib
import importlib
import inspect
import os
import sys
from collections.abc import Callable

from openworld.core.errors import OpenworldError

FORM = "package.module:function"


def code_of(network: object) -> str:
    """Return hex SHA-256 of the files that the classes of a network and of its layers are written in."""
    # Weights do not show what a `forward` does with them. Classes without a file, as in a notebook, do not count.
    layers = getattr(network, "modules", lambda: [network])()
    digest = hashlib.sha256()
    for kind in sorted({type(layer) for layer in layers}, key=lambda kind: (kind.__module__, kind.__qualname__)):
        digest.update(f"{kind.__module__}.{kind.__qualname__}\0".encode())
        try:
            with open(inspect.getfile(kind), "rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        except (OSError, TypeError):
            continue
    return digest.hexdigest()


def find_function(name: str) -> Callable:
    """Import the function that "package.module:function" names; the current folder is searched first."""
    module, _, function = name.partition(":")
    here = os.getcwd()  # stays on Python's path: such code may import its neighbours when it runs
    if not {"", here} & set(sys.path):
        sys.path.insert(0, here)
    try:
        target = getattr(importlib.import_module(module), function)
    except (Exception, SystemExit) as error:  # importing somebody's module runs it: it may fail in any way
        raise OpenworldError(
            f"{name!r} cannot be imported ({type(error).__name__}: {error}); give {FORM} of a file in the current "
            f"folder ({here}) or of an installed package."
        ) from error
    if not callable(target):
        raise OpenworldError(f"{name!r} is a {type(target).__name__}, expected a function; give {FORM}.")
    return target
