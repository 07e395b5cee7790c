"""Detectors by name, those of other packages included (entry points of the group "openworld.detectors")."""

from openworld._plugins import Plugins
from openworld._types import checked


def _ours() -> dict[str, type]:
    from openworld.detectors import DETECTORS

    return DETECTORS


PLUGINS = Plugins("detector", ("name", "paper", "summary", "needs", "gathers", "fit", "read"), _ours)


@checked
def find_detector(name: str) -> type:
    """The detector of that name: one of `DETECTORS`, or a plug-in.

    Raises:
        OpenworldError: an unknown name (lists the known ones and the nearest spelling), or a plug-in that cannot be
            loaded.

    >>> find_detector("KNN").paper
    'Sun et al., 2022'
    """
    return PLUGINS.find(name)


@checked
def all_detectors() -> dict[str, type]:
    """`DETECTORS`, and every plug-in that can be loaded."""
    return PLUGINS.all()


@checked
def broken_plugins() -> dict[str, str]:
    """Plug-ins that cannot be loaded: their names, and why."""
    return PLUGINS.broken()


@checked
def origin(name: str) -> str:
    """The package and version that bring a plug-in detector, such as "my-package 1.2"; "" for one of ours."""
    return PLUGINS.origin(name)
