"""Checks of detectors' settings that come up more than once."""

from openworld._errors import OpenworldError


def require_positive(**numbers: float) -> None:
    """Raise unless every number is above 0; the message names the first that is not.

    >>> require_positive(temperature=0.5)
    """
    for name, number in numbers.items():
        if not number > 0:  # said so that NaN is refused too
            raise OpenworldError(f"{name} is {number}, expected a number above 0.")


def require_percent(**percents: float) -> None:
    """Raise unless every number lies in [0, 100]."""
    for name, value in percents.items():
        if not 0 <= value <= 100:
            raise OpenworldError(f"{name} is {value}, expected a percentage in [0, 100].")
