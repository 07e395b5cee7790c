"""From a few settings of a user to a whole learner: published defaults of a data set, overridden key by key."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from openworld.runs import read_spec


def configure(learner: type, settings: Mapping[str, Any], dataset: str = ""):
    """The learner with what is published for `dataset`, `settings` put over it.

    Args:
        learner: a class of `LEARNERS`.
        settings: nested, or with dotted keys: {"schedule": {"epochs": 10}} and {"schedule.epochs": 10} are the same.
        dataset: name of a data set; "" for the general defaults.

    Raises:
        OpenworldError: a key that the learner does not have (with the nearest spelling), a value of the wrong type.
    """
    return read_spec(override(asdict(learner.published(dataset)), settings), learner)


def override(given: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`given` with `changes` put over it, table by table.

    >>> override({"alpha": 1, "schedule": {"epochs": 50, "momentum": 0}}, {"schedule.epochs": 10})
    {'alpha': 1, 'schedule': {'epochs': 10, 'momentum': 0}}
    """
    result = dict(given)
    for key, value in changes.items():
        head, _, rest = key.partition(".")
        if rest:
            value = {rest: value}
        both_tables = isinstance(value, Mapping) and isinstance(result.get(head), Mapping)
        result[head] = override(result[head], value) if both_tables else value
    return result
