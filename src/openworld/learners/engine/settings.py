"""From a few settings of a user to a whole learner: published defaults of a data set, overridden key by key."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Literal, get_args

from openworld.core.types import checked
from openworld.learners.engine.training import Schedule
from openworld.runs import read_spec

PublishedSetting = Literal["base-to-new", "openpl", "ood"]
TASKS = get_args(PublishedSetting)
"""What settings are published for: OpenworldAUC's comparison (Hua et al., 2025), OpenPL's unified setting, and the
detection of images of no known class."""


@checked
def configure(
    learner: type, settings: Mapping[str, Any], dataset: str = "", task: PublishedSetting = "base-to-new"
) -> Any:
    """The learner with what is published for `dataset` and `task`, `settings` put over it.

    Args:
        learner: a class of `LEARNERS`.
        settings: nested, or with dotted keys: {"schedule": {"epochs": 10}} and {"schedule.epochs": 10} are the same.
        dataset: name of a data set; "" for the general defaults.
        task: one of `TASKS`.

    Raises:
        OpenworldError: a key that the learner does not have (with the nearest spelling), a value of the wrong type, an
            unknown task.
    """
    kind: Any = learner
    return read_spec(override(asdict(kind.published(dataset, task)), settings), learner)


SENTENCES = ("template", "templates", "behind")
"""Settings that say which sentence a name stands in."""


def with_sentences_of(learner, dataset: str, other: str):
    """Return a learner with the sentences of another data set, where it has the published ones of its own."""
    home, away = (type(learner).published(name) for name in (dataset, other))
    settings = [name for name in SENTENCES if hasattr(home, name) and getattr(learner, name) == getattr(home, name)]
    return replace(learner, **{name: getattr(away, name) for name in settings})


def unified(schedule: Schedule, dataset: str) -> Schedule:
    """Return a schedule as OpenPL unifies it: 0.002 for 50 epochs, 10 on ImageNet (OpenPL, experimental setting)."""
    return replace(schedule, learning_rate=2e-3, epochs=10 if dataset == "imagenet" else 50)


@checked
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
