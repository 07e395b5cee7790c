"""Learners by name, those of other packages included (entry points of the group "openworld.learners")."""

from openworld._plugins import Plugins

_PROMISED = ("name", "paper", "tunes", "cost", "consumes", "depends_on_other_names", "published", "fit", "text_bank")


def _ours() -> dict[str, type]:
    from openworld.learners import LEARNERS

    return LEARNERS


PLUGINS = Plugins("learner", _PROMISED, _ours)


def find_learner(name: str) -> type:
    """The learner of that name: one of `LEARNERS`, or a plug-in.

    Raises:
        OpenworldError: an unknown name (lists the known ones and the nearest spelling), or a plug-in that cannot be
            loaded.

    >>> find_learner("CoOp").paper
    'Zhou et al., 2022'
    """
    return PLUGINS.find(name)


def all_learners() -> dict[str, type]:
    """`LEARNERS`, and every plug-in that can be loaded."""
    return PLUGINS.all()


def broken_plugins() -> dict[str, str]:
    """Plug-ins that cannot be loaded: their names, and why."""
    return PLUGINS.broken()


def origin(name: str) -> str:
    """The package and version that bring a plug-in learner, such as "my-package 1.2"; "" for one of ours."""
    return PLUGINS.origin(name)
