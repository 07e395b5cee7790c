"""How contract suites run: checks by name, the broken promise in the error, and what several kinds promise."""

from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, is_dataclass
from types import FunctionType

from openworld.runs import to_json


def by_name(*checks: FunctionType) -> dict[str, Callable]:
    """Return checks under their names, in order."""
    return {check.__name__: check for check in checks}


def check_all(checks: Mapping[str, Callable], who: str, *subject) -> None:
    """Run every check on a subject; any failure is a promise not kept, and raises AssertionError that names both."""
    for name, check in checks.items():
        try:
            check(*subject)
        except Exception as error:
            kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
            raise AssertionError(f"{who} breaks a promise, {name}: {kind}{error}") from error


def require_refused(call: Callable[[], object], what: str, *, by: type[Exception] = ValueError, who: str = "") -> None:
    """Raise AssertionError unless a call is refused by that kind of error, which names `who`."""
    try:
        call()
    except by as refusal:
        assert who in str(refusal), f"the refusal of {what} names {who}: {refusal}"
        return
    except Exception as error:
        raise AssertionError(f"{what} must raise {by.__name__}, not {type(error).__name__}: {error}") from error
    raise AssertionError(f"{what} must be refused")


def require_description(method, *others: str) -> None:
    """Raise AssertionError unless a method has a name, a paper, a short summary, and `others`, all texts."""
    for part in ("name", "paper", "summary", *others):
        text = getattr(method, part)
        assert isinstance(text, str) and text, f"{part} is a sentence or words"
    assert len(method.summary) < 60, "the summary fits into a line of a table"


def settings_are_frozen_and_survive_json(method) -> None:
    """Settings cannot be changed, and come back from JSON as they were."""
    assert is_dataclass(method), "a method is a dataclass of its settings"
    try:
        method.anything = 1
    except (FrozenInstanceError, AttributeError, TypeError):
        pass
    else:
        raise AssertionError("settings are frozen")
    assert type(method)(**to_json(method)) == method, "settings survive JSON"
