"""What `openworld list` shows: one table per kind, read from the visible dicts."""

from rich.table import Table


def catalogue(kind: str) -> Table:
    """The table of a kind."""
    return {
        "learners": _learners,
        "datasets": _datasets,
        "backbones": _backbones,
        "metrics": _metrics,
        "protocols": _protocols,
    }[kind]()


def _table(title: str, *columns: str) -> Table:
    return Table(*columns, title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)


def _learners() -> Table:
    from openworld.learners import LEARNERS

    table = _table("learners", "name", "paper", "tunes", "trains on")
    pictures = {"views": "augmented pictures", "embeddings": "plain pictures"}
    for name, learner in LEARNERS.items():
        trains_on = pictures[learner.consumes] if hasattr(learner, "schedule") else "nothing"
        table.add_row(name, learner.paper, learner.tunes, trains_on)
    return table


def _datasets() -> Table:
    from openworld.datasets import DATASETS

    table = _table("data sets (or a path to a folder of class folders)", "name", "domains", "what")
    above = None
    for name, card in DATASETS.items():
        table.add_row(name, "as above" if card.domains == above else ", ".join(card.domains), card.summary)
        above = card.domains
    return table


def _backbones() -> Table:
    from openworld.backbones import BACKBONES

    table = _table(
        "backbones (or a folder, or any hub repository in Hugging Face layout)", "name", "M weights", "pixels", "what"
    )
    for name, card in BACKBONES.items():
        table.add_row(name, f"{card.parameters:g}", str(card.image_size), card.note)
    return table


def _metrics() -> Table:
    from openworld.metrics import METRICS

    table = _table("metrics (openworld.metrics)", "name", "range", "what", "source")
    for name, card in METRICS.items():
        table.add_row(name, _range(*card.range), card.summary, card.paper)
    return table


def _range(low: float | None, high: float | None) -> str:
    """Where a metric's values lie.

    >>> _range(0, 1), _range(1, None), _range(None, None)
    ('0 to 1', 'from 1', 'any')
    """
    if low is None:
        return "any" if high is None else f"up to {high:g}"
    return f"from {low:g}" if high is None else f"{low:g} to {high:g}"


def _protocols() -> Table:
    from openworld.protocols import PROTOCOLS

    table = _table("protocols", "name", "what")
    for name, spec in PROTOCOLS.items():
        table.add_row(name, spec.__doc__.splitlines()[0])
    return table
