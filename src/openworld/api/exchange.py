"""A run's numbers in the forms that other tools take: experiment trackers, the Hugging Face hub, a model card."""

import re
from collections.abc import Mapping
from itertools import count
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from openworld import __version__
from openworld.api.citing import cite
from openworld.api.finished_runs import as_run
from openworld.core.errors import unknown_name
from openworld.core.types import checked
from openworld.papers.bibliography import names_used
from openworld.report.provenance import command
from openworld.report.render import markdown_table, plain
from openworld.report.report import Report
from openworld.report.result_table import result_table
from openworld.results import Result
from openworld.results.requirements import titles

if TYPE_CHECKING:
    from huggingface_hub import EvalResult

_REFUSED = re.compile(r"[^\w\-. ]+")  # signs that MLflow refuses in the name of a metric, and "/", which groups


@checked
def metrics_of(run: Report | Path | str) -> dict[str, float]:
    """Return the numbers of a run, or of any other answer, as a whole by flat names, for an experiment tracker.

    Args:
        run: what a function of openworld returned, such as a finished run; or the folder of one.

    Returns:
        {"GMoP/openworld_auc": 0.47, ...}: shares are fractions; what is not defined is left out. A place stands in the
        middle where there are several, as in "GMoP/4 shots/auroc". A name has letters, digits and "_-. /".

    >>> import openworld as ow
    >>> run = ow.score({"side": ["base", "base", "new"], "score": [0.9, 0.2, 0.4], "correct": [1, 1, 1]})
    >>> ow.metrics_of(run)["model/openworld_auc"]
    0.5
    """
    results = as_run(run).results.overall()
    numbers: dict[str, float] = {}
    for metric in results.metrics():
        rows = results.where(metric=metric).rows
        for title, row in zip(titles(rows, "\0"), rows, strict=True):
            if row.value.value is not None:
                parts = (" ".join(_REFUSED.sub(" ", part).split()) for part in (*title.split("\0"), metric))
                numbers[_free("/".join(filter(None, parts)), numbers)] = row.value.value
    return numbers


@checked
def hub_entries(run: Report | Path | str) -> "dict[str, list[EvalResult]]":
    """Return the scores of a run as evaluation entries of the Hugging Face hub, by learner, detector or method.

    Each has the number as a fraction, with its 95 % interval among the arguments of its metric. They go into a model
    card as `huggingface_hub.ModelCardData(model_name=..., eval_results=ow.hub_entries(run)["GMoP"])`.

    Args:
        run: a finished run, or its folder.
    """
    run = as_run(run)
    entries: dict[str, list[EvalResult]] = {}
    for row in run.results.overall():
        if row.entity and row.metric.is_score and row.value.value is not None:
            entries.setdefault(row.entity, []).append(_entry(run, row))
    return entries


def model_index(run: Report | Path | str, of: str = "") -> str:
    """Return the entries of `hub_entries` as YAML for the head of a model card."""
    from huggingface_hub.repocard_data import eval_results_to_model_index
    from huggingface_hub.utils import yaml_dump

    entries = hub_entries(run)
    if of and of not in entries:
        raise unknown_name("learner, detector or method of this run", of, entries)
    chosen = {of: entries[of]} if of else entries
    models = [model for name, found in chosen.items() for model in eval_results_to_model_index(name, found)]
    return yaml_dump({"model-index": models})


@checked
def model_card(run: Report | Path | str, of: str = "") -> str:
    """Return a section for a model card, in Markdown: the main numbers, what they mean, how they were made, citations.

    Args:
        run: a finished run, or its folder.
        of: only this learner, detector or method; "" for all.

    Raises:
        OpenworldError: the run has no number of `of`.
    """
    run = as_run(run)
    if of and of not in run.results.entities:
        raise unknown_name("learner, detector or method of this run", of, filter(None, run.results.entities))
    main = run.terminal_tables[0]
    table = result_table(run.results.where(entity=of or None), run.main_metrics, label=main.label)
    made = command(run.records.provenance[0]) if run.records.provenance else ""
    parts = [
        f"## Evaluation: {plain(run.results.evaluation)}",
        markdown_table(table).rstrip(),
        "" if of else "\n".join(f"- {plain(sentence)}" for sentence in run.verdict),
        f"Made with openworld {__version__}" + (f":\n\n{_code('', made)}" if made else "."),
        _code("bibtex", cite(run).rstrip()),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """The name, with a number behind it where another has the same."""
    names = (name if number == 1 else f"{name} {number}" for number in count(1))
    return next(free for free in names if free not in taken)


def _entry(run: Report, row: Result) -> "EvalResult":
    from huggingface_hub import EvalResult

    datasets = [name for kind, name in names_used(run.spec) if kind == "datasets"]
    sets = list(dict.fromkeys(map(_shared_name, datasets))) or ["own predictions"]
    interval = row.value.intervals[0] if row.value.intervals else None
    places = dict.fromkeys(value if isinstance(value, str) else f"{name} {value}" for name, value in row.where.items())
    return EvalResult(
        task_type="image-classification",
        task_name=f"openworld {run.results.evaluation}",
        dataset_type=sets[0] if len(sets) == 1 else "several",
        dataset_name=", ".join(sets),
        dataset_config=", ".join(places) or None,
        metric_type=row.metric.key,
        metric_name=row.metric.title,
        metric_value=row.value.value,
        metric_args={"low": interval.low, "high": interval.high, "level": 0.95, "over": interval.over}
        if interval is not None
        else None,
    )


def _shared_name(dataset: str) -> str:
    """What a data set is called where others read it: without the folders of this machine.

    >>> _shared_name("hf:ethz/food101"), _shared_name("data/pets"), _shared_name("dtd")
    ('ethz/food101', 'pets', 'dtd')
    """
    return dataset.removeprefix("hf:") if dataset.startswith("hf:") else PurePath(dataset).name


def _code(language: str, text: str) -> str:
    """Text between fences that are longer than any within it."""
    longest = max((len(ticks) for ticks in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
