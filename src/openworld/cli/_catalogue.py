"""What `openworld list` shows: one table per kind, read from the visible dicts."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text


def catalogue(kind: str) -> RenderableType:
    """The table of a kind, and what is to be said about it."""
    return {
        "learners": _learners,
        "detectors": _detectors,
        "estimators": _estimators,
        "classifiers": _classifiers,
        "datasets": _datasets,
        "backbones": _backbones,
        "metrics": _metrics,
        "protocols": _protocols,
    }[kind]()


def _table(title: str, *columns: str) -> Table:
    return Table(*columns, title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)


def _learners() -> RenderableType:
    from openworld.learners._plugins import all_learners, broken_plugins

    table = _table("learners", "name", "paper, what it tunes", "numbers", "trains on", "a step runs")
    table.columns[1].max_width, table.columns[4].max_width = 36, 20  # 100 columns in all
    table.columns[2].justify = "right"
    for name, learner in all_learners().items():
        table.add_row(*_learner_cells(name, learner))
    broken = [Text(why, style="red") for why in broken_plugins().values()]
    return Group(table, Text(_LEARNERS_CAPTION), *broken)


_LEARNERS_CAPTION = """\
Numbers tuned: with the published base-to-new settings, on ViT-B/16 with 50 base classes.
Trains on: embeddings of plain pictures or of augmented views, on these and patch features of views
(both encoded once and kept), or on the pixels of views, so that the image tower runs in every step."""

_TRAINS_ON = {"embeddings": "plain"}


def _learner_cells(name: str, learner) -> tuple[Text, ...]:
    """The cells of one learner's row; a plug-in's name the package that brings it."""
    from openworld.learners._plugins import origin
    from openworld.learners._size import tuned_parameters

    learns = hasattr(learner, "start")
    paper = f"{learner.paper} ({origin(name)})" if origin(name) else learner.paper
    what = Text.assemble(paper, *([("\n" + learner.tunes, "dim")] if learns else []))
    count = f"{tuned_parameters(learner.published('')):,}".replace(",", " ")
    trains_on = _TRAINS_ON.get(learner.consumes, learner.consumes) if learns else "nothing"
    return Text(name), what, Text(count), Text(trains_on), Text(learner.cost)


def _detectors() -> RenderableType:
    from openworld.detectors._plugins import all_detectors, broken_plugins, origin

    table = _table("detectors of out-of-distribution images", "name", "paper", "looks at", "what")
    table.columns[2].max_width, table.columns[3].max_width = 24, 38  # 100 columns in all
    for name, detector in all_detectors().items():
        paper = f"{detector.paper} ({origin(name)})" if origin(name) else detector.paper
        table.add_row(Text(name), Text(paper), Text(", ".join(detector.needs)), Text(detector.summary))
    broken = [Text(why, style="red") for why in broken_plugins().values()]
    return Group(table, Text(_DETECTORS_CAPTION), *broken)


_DETECTORS_CAPTION = """\
Larger scores: more like the training data. Features enter the head, the classifier's last linear
layer. Labels and bank, which keeps features, are of training images only. One forward pass serves
all, but gradient takes a backward and a forward pass more, maps the last stage once more. Texts and
patches are those of two-tower models."""


def _estimators() -> RenderableType:
    from openworld.estimators._plugins import all_estimators, broken_plugins, origin

    table = _table("estimators of accuracy without labels", "name", "paper", "needs", "what")
    table.columns[1].max_width, table.columns[3].max_width = 22, 42  # 100 columns in all
    for name, estimator in all_estimators().items():
        paper = f"{estimator.paper} ({origin(name)})" if origin(name) else estimator.paper
        table.add_row(Text(name), Text(paper), ", ".join(estimator.needs), Text(estimator.summary))
    broken = [Text(why, style="red") for why in broken_plugins().values()]
    return Group(table, Text(_ESTIMATORS_CAPTION), *broken)


_ESTIMATORS_CAPTION = """\
All read the logits of the judged model. Labels: of source images only. Reference: similarities
of another model, such as CLIP, to the class names. Partners: logits of models trained like it.
A score becomes an estimate by regression over labelled sets (ScoreRegression)."""


def _classifiers() -> RenderableType:
    from openworld.classifiers import ARCHITECTURES, build

    table = _table("networks for small pictures, to be trained as classifiers", "name", "weights", "paper", "what")
    table.columns[1].justify = "right"
    for name, architecture in ARCHITECTURES.items():
        weights = sum(tensor.numel() for tensor in build(name, classes=100, side=32).parameters())
        table.add_row(name, f"{weights:,}".replace(",", " "), architecture.paper, architecture.summary)
    return Group(table, Text(_CLASSIFIERS_CAPTION))


_CLASSIFIERS_CAPTION = """\
Weights: for 100 classes and pictures of 32 pixels. Others: timm:NAME, if that package is installed,
or package.module:function, which returns any torch module."""


def _datasets() -> RenderableType:
    from openworld.datasets import DATASETS

    table = _table("data sets", "name", "download", "domains", "what")
    above = None
    for name, card in DATASETS.items():
        domains = _in_short(card.domains)
        shown = "as above" if domains and card.domains == above else domains
        table.add_row(name, "yes" if card.download else "no", shown, card.summary)
        above = card.domains
    return Group(table, Text(_DATASETS_CAPTION))


def _in_short(domains: Sequence[str]) -> str:
    """All domains, or how many there are where that would fill the screen.

    >>> _in_short(["a", "b"]), _in_short([f"fog {n}" for n in range(95)])
    ('a, b', 'fog 0, ..., fog 94 (95 in all)')
    """
    return ", ".join(domains) if len(domains) <= 20 else f"{domains[0]}, ..., {domains[-1]} ({len(domains)} in all)"


_DATASETS_CAPTION = """\
Or your own: a folder of class folders, a list (.csv, .parquet), WebDataset shards (.tar), hf:user/name.
Download: openworld data check NAME --root DIR says what to get, where to put it, and what is missing."""


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
