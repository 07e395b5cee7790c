"""Names of a package that lie in its modules, imported when they are first asked for."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package; `names` that lie in a module of it, by the module's name, with spaces.

    A name may be that of a module too. What has the name of the module that it lies in is imported at once instead:
    importing the module would hide it.
    """
    lies_in = {name: module for module, several in names.items() for name in several.split()}

    def find(name: str) -> Any:
        if name not in lies_in:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        place = f"{package}.{lies_in[name]}".rstrip(".")
        found = None if place == package else getattr(import_module(place), name, None)
        return import_module(f"{place}.{name}") if found is None else found

    return find
