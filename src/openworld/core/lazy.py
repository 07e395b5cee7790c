"""Names of a package, imported when they are first asked for: those that it imports `if TYPE_CHECKING`."""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from openworld.core.errors import not_installed


def lazily(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package, whose `__init__` is in `file`.

    A module may not be called like a name that it holds: once imported it would hide the name.
    """
    statements = ast.parse(Path(file).read_text(encoding="utf-8")).body
    (imports,) = (each.body for each in statements if isinstance(each, ast.If))
    ours = [each for each in imports if isinstance(each, ast.ImportFrom)]
    lies_in = {
        alias.asname or alias.name: (each.module or package, alias.name) for each in ours for alias in each.names
    }

    def find(name: str) -> Any:
        if name not in lies_in:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, attribute = lies_in[name]
        try:
            if module != package:
                value = getattr(import_module(module), attribute, None)
                if value is not None:
                    return value
            return import_module(f"{module}.{attribute}")
        except ModuleNotFoundError as error:
            raise not_installed(error, f"{package}.{name}") from error

    return find, lambda: sorted(lies_in)
