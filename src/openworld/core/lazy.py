"""Names of a package, imported when they are first asked for: those that it imports `if TYPE_CHECKING`."""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def lazily(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package, whose `__init__` is in `file`.

    A module may not be called like a name that it holds: once imported it would hide the name.
    """
    statements = ast.parse(Path(file).read_text(encoding="utf-8")).body
    (imports,) = (each.body for each in statements if isinstance(each, ast.If))
    lies_in = {alias.name: each.module for each in imports for alias in each.names}

    def find(name: str) -> Any:
        if name not in lies_in:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if lies_in[name] != package:
            value = getattr(import_module(lies_in[name]), name, None)
            if value is not None:
                return value
        return import_module(f"{lies_in[name]}.{name}")

    return find, lambda: sorted(lies_in)
