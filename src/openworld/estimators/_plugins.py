"""Estimators by name, those of other packages included (entry points of the group "openworld.estimators")."""

from openworld._plugins import Plugins


def _ours() -> dict[str, type]:
    from openworld.estimators import ESTIMATORS

    return ESTIMATORS


PLUGINS = Plugins("estimator", ("name", "paper", "summary", "needs"), _ours)


def find_estimator(name: str) -> type:
    """The estimator of that name: one of `ESTIMATORS`, or a plug-in.

    Raises:
        OpenworldError: an unknown name (lists the known ones and the nearest spelling), or a plug-in that cannot be
            loaded.

    >>> find_estimator("COT").paper
    'Lu et al., 2023'
    """
    return PLUGINS.find(name)


def all_estimators() -> dict[str, type]:
    """`ESTIMATORS`, and every plug-in that can be loaded."""
    return PLUGINS.all()


def broken_plugins() -> dict[str, str]:
    """Plug-ins that cannot be loaded: their names, and why."""
    return PLUGINS.broken()


def origin(name: str) -> str:
    """The package and version that bring a plug-in estimator, such as "my-package 1.2"; "" for one of ours."""
    return PLUGINS.origin(name)
