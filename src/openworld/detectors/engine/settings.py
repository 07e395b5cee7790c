"""Checks of detectors' settings that come up more than once."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch.linalg import LinAlgError

from openworld._errors import OpenworldError


def require_positive(**numbers: float) -> None:
    """Raise unless every number is above 0; the message names the first that is not."""
    for name, number in numbers.items():
        if not number > 0:  # said so that NaN is refused too
            raise OpenworldError(f"{name} is {number}, expected a number above 0.")


def require_percent(**percents: float) -> None:
    """Raise unless every number lies in [0, 100]."""
    for name, value in percents.items():
        if not 0 <= value <= 100:
            raise OpenworldError(f"{name} is {value}, expected a percentage in [0, 100].")


@contextmanager
def solvable(who: str) -> Iterator[None]:
    """Within it, a matrix that has no decomposition is told as what it comes of."""
    try:
        yield
    except LinAlgError as error:
        raise OpenworldError(
            f"{who} cannot decompose the matrix that it makes of these features and this head ({error}); their numbers "
            "are too large, too small or too much alike."
        ) from error
