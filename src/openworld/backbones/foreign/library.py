"""What other libraries need around them: an import that says which extra brings it, and refusals in a sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from openworld._errors import OpenworldError


def import_library(package: str, name: str, extra: str = "") -> ModuleType:
    """Return the package that runs the model `name`; `extra` brings it where it is not called like the package."""
    try:
        return import_module(package)
    except ImportError as error:
        raise OpenworldError(
            f"{name!r} needs the package {package}, which cannot be imported ({error}); "
            f'pip install "openworld[{extra or package.replace("_", "-")}]".'
        ) from error


@contextmanager
def refusing(package: str, name: str) -> Iterator[None]:
    """Raise what a package raises while it loads the backbone `name` as OpenworldError, in a sentence."""
    try:
        yield
    except OpenworldError:
        raise
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        reason = " ".join((str(error).strip() or type(error).__name__).split("\n")[0].split())
        raise OpenworldError(
            f"{package} cannot load {name!r} ({reason}); check the network, or give files that are here "
            "(openworld doctor NAME says which)."
        ) from error
