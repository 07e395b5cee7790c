"""What a run reads and no spec can say: images and models of the process that started it, by their fingerprints.

A spec names such a thing "held:TITLE#FINGERPRINT", as data set or as model. A run that was ended goes on once the same
things are held again, by the same command or by the same call in Python.
"""

from typing import Any

from openworld.core.errors import OpenworldError

MARK = "held:"
_HELD: dict[str, Any] = {}


def hold(thing: Any, title: str, fingerprint: str) -> str:
    """Keep an object for units of this process; return what a spec calls it."""
    name = f"{MARK}{title}#{fingerprint[:16]}"
    _HELD[name] = thing
    return name


def is_held(name: str) -> bool:
    """Whether a name of a spec stands for such an object, here or in another process."""
    return name.startswith(MARK)


def title_of(name: str) -> str:
    return name.removeprefix(MARK).rpartition("#")[0]


def held(name: str) -> Any:
    """Return the object; refuse one of another process."""
    if name not in _HELD:
        raise OpenworldError(
            f"{title_of(name)} was given to the process that began this run, and not to this one; start it again as it "
            "was started: with the same command, or the same call in Python."
        )
    return _HELD[name]


def release(*names: str) -> None:
    for name in names:
        _HELD.pop(name, None)
