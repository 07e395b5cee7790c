"""What there is to choose from, a table per kind, read from the visible dicts: `openworld list`."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from openworld._errors import unknown_name
from openworld._terminal import Head, TerminalTable, name, words
from openworld._types import checked
from openworld.api.answers import TextReport

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

KINDS = ("learners", "detectors", "estimators", "classifiers", "datasets", "backbones", "metrics", "evaluations")


@checked
def list_kinds(kinds: Sequence[str] = (), *, cite: bool = False) -> "str | TextReport":
    """List the learners, detectors, estimators, data sets and so on that there are, each in a line.

    ```
    openworld list learners
    openworld list --cite CoOp GMoP detectors > methods.bib
    ```

    Args:
        kinds: of learners, detectors, estimators, classifiers, datasets, backbones, metrics, evaluations; default: all.
            With `--cite` names too, such as CoOp.
        cite: print the BibTeX entries of their papers instead, of whole kinds or by name.

    Returns:
        The tables, or BibTeX.

    Raises:
        OpenworldError: an unknown kind or name.
    """
    from openworld.api.citing import cite_methods

    names = [kind for kind in kinds if kind != "all"]
    if cite:
        return cite_methods(names)
    for kind in names:
        if kind not in KINDS:
            raise unknown_name("kind", kind, (*KINDS, "all"))
    first = () if names else (f"One kind alone: openworld list detectors (or {', '.join(KINDS)}).\n",)
    return TextReport((*first, *(part for kind in names or KINDS for part in (_TABLES[kind](), ""))))


def _with_plugins(plugins, heads: Sequence[Head], cells: Callable, title: str, caption: str) -> "RenderableType":
    """The table of a kind that other packages may bring, and below it what of theirs cannot be used.

    cells: a row of a name, a class, and what stands for its paper; a plug-in's tells the package that brings it.
    """
    from rich.console import Group
    from rich.text import Text

    def row(label: str, method: type) -> "tuple[Text, ...]":
        paper = f"{method.paper} ({plugins.origin(label)})" if plugins.origin(label) else method.paper
        return tuple(cell if isinstance(cell, Text) else Text(cell) for cell in cells(label, method, paper))

    rows, broken = plugins.rows(row)
    return Group(TerminalTable(heads, rows, title=title), Text(caption), *(Text(why, style="red") for why in broken))


def _learners() -> "RenderableType":
    from openworld.learners import PLUGINS

    heads = (name("name"), words("paper, what it tunes", 36), Head("numbers"), name("trains on"))
    heads += (words("a step runs", 19),)  # 100 columns in all
    return _with_plugins(PLUGINS, heads, _learner_cells, "learners", _LEARNERS_CAPTION)


_LEARNERS_CAPTION = """\
Numbers tuned: with the published base-to-new settings, on ViT-B/16 with 50 base classes.
Trains on: embeddings of plain images or of augmented views, on these and patch features of views
(both encoded once and kept), or on the pixels of views, so that the image tower runs in every step."""

_TRAINS_ON = {"embeddings": "plain"}


def _learner_cells(label: str, learner: type, paper: str) -> tuple:
    from rich.text import Text

    from openworld.learners.engine.parameter_counts import tuned_parameters

    learns = hasattr(learner, "start")
    what = Text.assemble(paper, *([("\n" + learner.tunes, "dim")] if learns else []))
    count = f"{tuned_parameters(learner.published('')):,}".replace(",", " ")
    trains_on = _TRAINS_ON.get(learner.consumes, learner.consumes) if learns else "nothing"
    return label, what, count, trains_on, learner.cost


def _detectors() -> "RenderableType":
    from openworld.detectors import PLUGINS, is_sequential

    def cells(label: str, detector: type, paper: str) -> tuple:
        looks_at = (*detector.needs, "stream") if is_sequential(detector) else detector.needs
        return label, paper, ", ".join(looks_at), detector.summary

    heads = name("name"), words("paper"), words("looks at", 24), words("what", 34)  # 100 columns in all
    return _with_plugins(PLUGINS, heads, cells, "detectors of out-of-distribution images", _DETECTORS_CAPTION)


_DETECTORS_CAPTION = """\
Larger scores: more like the training data. Features enter the head, the classifier's last linear
layer. Labels and bank, which keeps features, are of training images only. One forward pass serves
all, but gradient takes a backward and a forward pass more, layer gradients a backward pass, maps
the last stage once more, samples a forward pass each. Texts and patches are those of two-tower
models. What looks at the stream remembers the images that it scores: its scores depend on their
order and on which others there are. The names of OpenOOD and pytorch-ood will do as well, in any
case: mls is MaxLogit, ebo Energy, klm KLM."""


def _estimators() -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from openworld.estimators import PLUGINS

    def cells(label: str, estimator: type, paper: str) -> tuple:
        return label, paper, ", ".join(estimator.needs), estimator.summary

    heads = name("name"), words("paper", 22), words("needs"), words("what", 42)  # 100 columns in all
    of_accuracy = _with_plugins(PLUGINS, heads, cells, "estimators of accuracy without labels", _ESTIMATORS_CAPTION)
    return Group(of_accuracy, Text(), _open_world_estimators())


_ESTIMATORS_CAPTION = """\
All read the logits of the classifier in question. Labels: of source images only.
Reference: similarities of another model, such as CLIP, to the class names. Partners: logits of
models trained like it.
A score becomes an estimate by regression over labelled sets (ScoreRegression)."""


def _open_world_estimators() -> "RenderableType":
    from openworld.estimators.open_world import PLUGINS

    def cells(label: str, estimator: type, paper: str) -> tuple:
        return label, paper, ", ".join(estimator.needs) or "scores alone", estimator.summary

    heads = name("name"), words("paper", 20), words("needs", 18), words("what", 36)  # 100 columns in all
    return _with_plugins(PLUGINS, heads, cells, "estimators of open-world quality without labels", _OPEN_WORLD_CAPTION)


_OPEN_WORLD_CAPTION = """\
OpenworldAUC and its parts on images of base and new classes of which nobody knows which are new.
Labels: of base validation images. Reference: another model's similarities to all names; for
positive-unlabelled, zero-shot CLIP. Each rests on a premise: its `premise` says which."""


def _classifiers() -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from openworld.classifiers import ARCHITECTURES, build

    heads, rows = (name("name"), Head("weights"), words("paper"), words("what")), []
    for label, architecture in ARCHITECTURES.items():
        weights = sum(tensor.numel() for tensor in build(label, classes=100, side=32).parameters())
        rows.append((label, f"{weights:,}".replace(",", " "), architecture.paper, architecture.summary))
    table = TerminalTable(heads, rows, title="networks for small images, to be trained as classifiers")
    return Group(table, Text(_CLASSIFIERS_CAPTION))


_CLASSIFIERS_CAPTION = """\
Weights: for 100 classes and images of 32 pixels. Others: timm:NAME, if that package is installed,
or package.module:function, which returns any torch module."""


def _datasets() -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from openworld.datasets import DATASETS

    above, rows = None, []
    for label, card in DATASETS.items():
        domains = _in_short(list(filter(None, card.domains)))
        column = "as above" if domains and card.domains == above else domains
        rows.append((label, "yes" if card.download else "no", column, card.summary))
        above = card.domains
    table = TerminalTable((name("name"), name("download"), words("domains"), words("what")), rows, title="data sets")
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


def _backbones() -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from openworld.backbones import BACKBONES

    heads = (name("name"), name("M weights"), name("pixels"), words("what"))
    rows = [(label, f"{card.parameters:g}", str(card.image_size), card.note) for label, card in BACKBONES.items()]
    return Group(TerminalTable(heads, rows, title="backbones"), Text(_BACKBONES_CAPTION))


_BACKBONES_CAPTION = """\
Or a folder, a hub repository (OWNER/NAME), open_clip's MODEL/WEIGHTS; any other dual encoder
by transformers:OWNER/NAME or open_clip:MODEL/WEIGHTS. openworld doctor NAME says what runs with it, and where
its files go."""


def _metrics() -> TerminalTable:
    from openworld.metrics import METRICS

    heads = (name("name"), name("range"), words("what"), words("source"))
    rows = [(label, _range(*card.range), card.summary, card.paper) for label, card in METRICS.items()]
    return TerminalTable(heads, rows, title="metrics (openworld.metrics)")


def _range(low: float | None, high: float | None) -> str:
    """Where a metric's values lie.

    >>> _range(0, 1), _range(1, None), _range(None, None)
    ('0 to 1', 'from 1', 'any')
    """
    if low is None:
        return "any" if high is None else f"up to {high:g}"
    return f"from {low:g}" if high is None else f"{low:g} to {high:g}"


def _evaluations() -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from openworld.evaluations import PLUGINS

    def row(label: str, evaluation) -> tuple[str, str]:
        origin = f" ({PLUGINS.origin(label)})" if PLUGINS.origin(label) else ""
        return label, evaluation.spec.__doc__.splitlines()[0] + origin

    rows, broken = PLUGINS.rows(row)
    table = TerminalTable((name("name"), words("what")), rows, title="evaluations")
    return Group(table, *(Text(why, style="red") for why in broken))


_TABLES: dict[str, Callable] = {
    "learners": _learners,
    "detectors": _detectors,
    "estimators": _estimators,
    "classifiers": _classifiers,
    "datasets": _datasets,
    "backbones": _backbones,
    "metrics": _metrics,
    "evaluations": _evaluations,
}
