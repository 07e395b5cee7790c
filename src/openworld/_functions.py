"""Functions of a user's own code, named as "package.module:function"."""

import importlib
import os
import sys
from collections.abc import Callable

from openworld._errors import OpenworldError

FORM = "package.module:function"


def find_function(name: str) -> Callable:
    """Import the function that "package.module:function" names.

    The current folder is searched first, as `python -m` does: "train:net" is `net` of ./train.py. It stays on Python's
    path, because such code may import its neighbours when it runs.

    Raises:
        OpenworldError: another form, no such module or function, a module that fails when it is imported.

    >>> find_function("math:sqrt")(9.0)
    3.0
    """
    module, _, function = name.partition(":")
    here = os.getcwd()
    if not {"", here} & set(sys.path):
        sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(module), function)
    except (Exception, SystemExit) as error:  # importing somebody's module runs it: it may fail in any way
        raise OpenworldError(
            f"{name!r} cannot be imported ({type(error).__name__}: {error}); give {FORM} of a file in the current "
            f"folder ({here}) or of an installed package."
        ) from error
    if not callable(found):
        raise OpenworldError(f"{name!r} is a {type(found).__name__}, expected a function; give {FORM}.")
    return found
