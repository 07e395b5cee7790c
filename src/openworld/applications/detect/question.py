"""Which of its three questions `openworld detect` was asked."""

from collections.abc import Mapping
from typing import Any

from openworld._errors import OpenworldError

OF_THE_MODEL = ("model", "member", "architecture", "backbone")
"""Options that say which model it is; beside --apply, where it is not the one that the thresholds name."""


def question(*, scores: Any, apply: Any, images: Any, known: Any, others: Mapping[str, Any] | None = None) -> str:
    """Return "scores", "apply" or "images"; arrays count as given.

    Args:
        others: options that mean something beside --model and --id alone, by their names.

    Raises:
        OpenworldError: none or several of them, images without thresholds, an option that would not be looked at.

    >>> question(scores="scores.csv", apply=None, images=(), known="")
    'scores'
    """
    given = {"scores": _is_given(scores), "apply": _is_given(apply), "images": _is_given(known)}
    asked = [name for name, is_given in given.items() if is_given]
    if len(asked) != 1:
        ways = "--scores FILE, --model MODEL --id IMAGES --ood GROUP=IMAGES, or --apply FOLDER IMAGES"
        raise OpenworldError(f"{'several' if asked else 'none'} of {ways} came; give one of the three.")
    if images and asked != ["apply"]:
        raise OpenworldError(f"{images[0]} came without --apply; name in-distribution images with --id, others --ood.")
    for name, value in (others or {}).items() if asked != ["images"] else ():
        if _is_given(value) and not (asked == ["apply"] and name in OF_THE_MODEL):
            raise OpenworldError(
                f"--{name} is of a model and images (--model, --id), and --{asked[0]} came; leave it out."
            )
    return asked[0]


def _is_given(value: Any) -> bool:
    return value is not None and not (isinstance(value, str | list | tuple | dict) and not value)
