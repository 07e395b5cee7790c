"""Learners of other packages, found by Python entry points of the group "openworld.learners".

A package names its learner's class in its own pyproject.toml, under the learner's name:

    [project.entry-points."openworld.learners"]
    MyLearner = "my_package:MyLearner"

Nothing is imported before it is asked for, and a plug-in that fails takes nothing else with it.
"""

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from openworld._errors import OpenworldError, unknown_name

GROUP = "openworld.learners"
_PROMISED = ("name", "paper", "tunes", "cost", "consumes", "depends_on_other_names", "published", "fit", "text_bank")


def find_learner(name: str) -> type:
    """The learner of that name: one of `LEARNERS`, or a plug-in.

    Raises:
        OpenworldError: an unknown name (lists the known ones and the nearest spelling), or a plug-in that cannot be
            loaded.

    >>> find_learner("CoOp").paper
    'Zhou et al., 2022'
    """
    from openworld.learners import LEARNERS

    if name in LEARNERS:
        return LEARNERS[name]
    if name not in _offered():
        raise unknown_name("learner", name, [*LEARNERS, *_offered()])
    return _load(name)


def all_learners() -> dict[str, type]:
    """`LEARNERS`, and every plug-in that can be loaded."""
    from openworld.learners import LEARNERS

    return LEARNERS | {name: _load(name) for name in _offered() if name not in broken_plugins()}


def broken_plugins() -> dict[str, str]:
    """Plug-ins that cannot be loaded: their names, and why."""
    broken = {}
    for name in _offered():
        try:
            _load(name)
        except OpenworldError as error:
            broken[name] = str(error)
    return broken


def origin(name: str) -> str:
    """The package and version that bring a plug-in learner, such as "my-package 1.2"; "" for one of ours.

    What a plug-in computes may change with its version, so that this belongs to what a result depends on.
    """
    from openworld.learners import LEARNERS

    if name in LEARNERS or name not in _offered():
        return ""
    return " and ".join(map(_brought_by, _offered()[name]))


def _offered() -> dict[str, list[EntryPoint]]:
    """Name -> every entry point of that name; read anew each time, for it costs little and packages come and go."""
    found: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        found.setdefault(entry.name, []).append(entry)
    return found


def _load(name: str) -> type:
    from openworld.learners import LEARNERS

    entries = _offered()[name]
    if name in LEARNERS:
        raise _refused(entries[0], f"openworld has a learner {name!r} of its own; give the plug-in another name.")
    if len(entries) > 1:
        raise _refused(entries[0], f"{_brought_by(entries[1])} brings one of that name too; uninstall one of them.")
    return _loaded(entries[0])


@cache
def _loaded(entry: EntryPoint) -> type:
    try:
        learner = entry.load()
    except Exception as error:  # a plug-in may fail in any way; the failure is named, and the other learners work
        raise _refused(entry, f"{type(error).__name__}: {error}") from error
    missing = [promised for promised in _PROMISED if not hasattr(learner, promised)]
    if not isinstance(learner, type) or missing:
        raise _refused(entry, f"{entry.value} is no learner: it has no {', '.join(missing) or 'settings'}.")
    if learner.name != entry.name:
        raise _refused(entry, f"its class calls itself {learner.name!r}; give class and entry point the same name.")
    return learner


def _refused(entry: EntryPoint, reason: str) -> OpenworldError:
    return OpenworldError(f"the plug-in learner {entry.name!r} of {_brought_by(entry)} cannot be used: {reason}")


def _brought_by(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
