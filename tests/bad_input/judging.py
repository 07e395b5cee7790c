"""One call with one argument changed, and what came of it: a right answer, a refusal, or neither."""

import copy
import inspect
import math
import shutil
import signal
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager, nullcontext
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

import numpy as np
from kinds import JUDGED, bad, odd
from torch import Tensor

from openworld.core.errors import OpenworldError

SECONDS = 30  # a call that takes longer hangs: all inputs are small
CLOSE = 1e-5  # float32 in another order of summing
_SCRATCH = TemporaryDirectory(prefix="bad-input-")  # taken away when the process ends
_HERE = mkdtemp(dir=_SCRATCH.name)  # the current folder of calls with bad names


def new_folder() -> Path:
    """Return an empty folder for the files of a room's calls."""
    return Path(mkdtemp(dir=_SCRATCH.name))


@dataclass(frozen=True)
class Call:
    """A public function, or what is made with a public class, and good values of all its arguments.

    infinite: whether an infinite number is documented to be among its results.
    allowed: (argument, kind) of bad values that this function takes for good ones, and is right to.
    left_out: (argument, kind) that cannot be tried, such as training that would last for years.
    like: values that bad ones are made from, where the given one says little, as None does.
    odd: whether odd values are tried, too; not where another call puts the same arrays into the same container.
    """

    function: Callable
    given: Mapping[str, Any]
    infinite: bool = False
    allowed: frozenset[tuple[str, str]] = frozenset()
    left_out: frozenset[tuple[str, str]] = frozenset()
    optional: frozenset[str] = field(default=frozenset())
    like: Mapping[str, Any] = field(default_factory=dict)
    odd: bool = True

    @cached_property
    def answer(self) -> tuple[Any, str | None]:
        """What comes of the good values, called once."""
        argument = next(iter(self.given))
        return _called(self, argument, _copied(self.given[argument]))

    def takes_none(self, argument: str) -> bool:
        """Whether None says something for this argument."""
        known = inspect.signature(self.function).parameters
        return argument in self.optional or (argument in known and known[argument].default is None)


@dataclass(frozen=True)
class Outcome:
    """Of one call. fault: why it is neither a right answer nor a refusal; None where it is one."""

    argument: str
    kind: str
    fault: str | None


def good(call: Call) -> bool:
    """Whether a call is answered with its good values."""
    found, fault = call.answer
    return fault is None and not isinstance(found, OpenworldError)


def outcomes(call: Call, every: int = 1) -> Iterator[Outcome]:
    """Of every argument and kind of value, one at a time; arguments of the same kinds each have every so many-th."""
    examples, alike = dict(call.given) | call.like, defaultdict(list)
    for argument, value in examples.items():
        alike[tuple(bad(value))].append(argument)
    for argument, value in examples.items():
        sharing = alike[tuple(bad(value))]
        step = min(every, len(sharing))
        some = slice(sharing.index(argument) % step, None, step)
        for kind, (wanted, make) in list(bad(value).items())[some]:
            if (argument, kind) in call.left_out:
                continue
            may_answer = wanted == JUDGED or (argument, kind) in call.allowed
            may_answer |= kind == "None" and call.takes_none(argument)
            yield _of_bad(call, argument, kind, make(value), may_answer)
        plain = cache(lambda argument=argument, value=value: _plain(call, argument, value))
        for kind, make in list(odd(value).items())[some] if call.odd else ():
            if (argument, kind) not in call.left_out:
                odd_one, twin = make(value)
                expected = plain() if twin is value else _called(call, argument, twin)
                yield Outcome(argument, kind, _fault_of_odd(expected, _called(call, argument, odd_one)))


def _plain(call: Call, argument: str, value: Any) -> tuple[Any, str | None]:
    """What comes of a good value."""
    return call.answer if value is call.given.get(argument) else _called(call, argument, value)


def _of_bad(call: Call, argument: str, kind: str, value: Any, may_answer: bool) -> Outcome:
    found, fault = _called(call, argument, value)
    if fault is None and not isinstance(found, OpenworldError):
        fault = None if may_answer else f"taken for good: {_told(found)}"
        fault = fault or _not_finite(found, call.infinite)
    return Outcome(argument, kind, fault)


def _fault_of_odd(expected: tuple[Any, str | None], answer: tuple[Any, str | None]) -> str | None:
    (twin, twin_fault), (found, fault) = expected, answer
    if twin_fault is not None:
        return f"its plain twin: {twin_fault}"
    if fault is not None or isinstance(twin, OpenworldError):
        return fault
    if isinstance(found, OpenworldError):
        return f"refused: {found}"
    one, other = (np.array(list(numbers(each))) for each in (found, twin))
    if one.shape != other.shape or not np.allclose(one, other, rtol=CLOSE, atol=CLOSE, equal_nan=True):
        return "another answer than its plain twin's"
    return None


def _called(call: Call, argument: str, value: Any) -> tuple[Any, str | None]:
    """What came back, or the refusal; why it is at fault."""
    given = {name: _copied(one) for name, one in call.given.items()} | {argument: value}
    before = {name: _bytes(one) for name, one in given.items()}
    try:
        with _watched(), _in_empty_folder() if isinstance(value, str) else nullcontext():
            found = call.function(**given)
            _look_at(found)
    except OpenworldError as refusal:
        found = refusal
    except Exception as error:
        return None, f"{type(error).__name__}: {str(error)[:200]}"
    changed = [name for name, one in given.items() if _bytes(one) != before[name]]
    return found, f"changed {changed[0]}" if changed else None


@contextmanager
def _in_empty_folder():
    """Some bad names are those of files to write."""
    try:
        with chdir(_HERE):
            yield
    finally:
        if any(Path(_HERE).iterdir()):
            shutil.rmtree(_HERE)
            Path(_HERE).mkdir()


@contextmanager
def _watched():
    """Warnings are errors, and so is a call without end."""

    def late(*_):
        raise TimeoutError(f"no answer after {SECONDS} seconds")

    previous = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


def _copied(value):
    return copy.deepcopy(value) if isinstance(value, np.ndarray | list | dict) else value


def _bytes(value):
    if isinstance(value, Tensor):
        value = value.detach()
        return None if value.is_sparse else value.resolve_conj().numpy().tobytes()
    if isinstance(value, np.ma.MaskedArray):
        return value.data.tobytes(), np.ma.getmaskarray(value).tobytes()
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.tobytes()
    if isinstance(value, np.ndarray | list | tuple):
        return tuple(_bytes(one) for one in value)
    return value if isinstance(value, int | float | str) and value == value else None


def _look_at(found) -> None:
    """Have what is computed when first asked for computed."""
    for name in ("standard_error", "error_reason", "interval", "degrees_of_freedom"):
        asked = getattr(found, name, None)
        if inspect.ismethod(asked):
            asked()
    if inspect.isgenerator(found):
        list(found)


def _not_finite(found: Any, infinite: bool) -> str | None:
    for number in numbers(found):
        if not isinstance(number, int | float):
            return f"{number} among the numbers of {_told(found)}"
        if math.isnan(number):
            return f"NaN in {_told(found)}"
        if math.isinf(number) and not infinite:
            return f"an infinite number in {_told(found)}"
    return None


def numbers(found: Any) -> Iterator[float]:
    """All numbers in an answer, in order."""
    if isinstance(found, bool | int | float | np.number | np.bool_):
        yield _number(found)
    elif isinstance(found, Tensor):
        yield from found.detach().double().flatten().tolist()
    elif isinstance(found, np.ndarray) and found.dtype.kind in "biuf":
        yield from found.astype(float).ravel().tolist()
    elif is_dataclass(found) and not isinstance(found, type):
        for one in fields(found):
            yield from numbers(getattr(found, one.name))
        if type(found).__name__ == "Estimate" and hasattr(found, "standard_error"):
            yield from numbers((found.standard_error, found.interval()))
    elif isinstance(found, Mapping):
        yield from numbers(tuple(found.values()))
    elif isinstance(found, list | tuple):
        for one in found:
            yield from numbers(one)


def _told(found: Any) -> str:
    try:
        return str(found)[:120]
    except Exception:  # an integer too long to be written, or made of what was taken for good
        return f"a {type(found).__name__}"


def _number(value) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf
