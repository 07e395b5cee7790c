"""What there is to choose from, a table per kind, read from the visible dicts: `openworld list`."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from openworld.api.answers import TextReport
from openworld.core.errors import unknown_name
from openworld.core.plugins import Plugins
from openworld.core.terminal import Head, TerminalTable, name, words
from openworld.core.types import checked

if TYPE_CHECKING:
    from openworld.detectors import OODDetector
    from openworld.estimators import Estimator
    from openworld.learners import Learner


@checked
def list_kinds(kinds: Sequence[str] = (), *, cite: bool = False) -> "str | TextReport":
    """List the learners, detectors, estimators, data sets and so on that there are, each in a line.

    ```
    openworld list learners
    openworld list --cite CoOp GMoP detectors > methods.bib
    ```

    Args:
        kinds: learners, detectors, estimators, classifiers, datasets, backbones, metrics, evaluations; default: all.
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
    return TextReport(
        (*first, *(part for kind in names or KINDS for table in KINDS[kind] for part in (*_parts(table), "")))
    )


@dataclass(frozen=True)
class Listed:
    """How the things of a kind are listed.

    Args:
        place: the visible dict, or the `PLUGINS` of a kind that other packages may bring: "module:NAME".
        title: stands above the table.
        heads: of the columns, 100 columns wide together.
        cells: a row of a name, what has it, and the package in brackets that brings it, "" for openworld.
        caption: what the columns mean, and what else there is.
    """

    place: str
    title: str
    heads: tuple[Head, ...]
    cells: Callable[[str, Any, str], Sequence[Any]]
    caption: str = ""


def _parts(listed: Listed) -> list[Any]:
    """Return the table of a kind, its caption, and what plug-ins of that kind cannot be used."""
    from rich.text import Text

    def row(cells: Sequence[Any]) -> tuple[Text, ...]:  # cells of others that are no text fail here, by name
        return tuple(
            Text.assemble(first, (end + rest, "dim")) for first, end, rest in (c.partition("\n") for c in cells)
        )

    # Of kinds whose classes need torch, tools/list_rows.py wrote down what `rows_of_ours` returned.
    written = json.loads(files("openworld.api").joinpath("listed.json").read_text(encoding="utf-8"))
    rows, broken = list(map(row, written.get(listed.place) or rows_of_ours(listed))), []
    if listed.place.endswith(":PLUGINS"):
        plugins = _table(listed)
        others, broken = plugins.rows(lambda label, what: row(listed.cells(label, what, f" ({plugins.origin(label)})")))
        rows += others
    caption = [Text(listed.caption)] if listed.caption else []
    return [TerminalTable(listed.heads, rows, title=listed.title), *caption, *(Text(why, "red") for why in broken)]


def _table(listed: Listed) -> Any:
    module, _, attribute = listed.place.partition(":")
    return getattr(import_module(f"openworld.{module}"), attribute)


def rows_of_ours(listed: Listed) -> list[list[str]]:
    """Return a row of cells for each of our own things of a kind."""
    table = _table(listed)
    ours = table.ours() if isinstance(table, Plugins) else table
    return [list(listed.cells(label, what, "")) for label, what in ours.items()]


def _learner(label: str, learner: type["Learner"], origin: str) -> tuple:
    from openworld.learners.engine.costs import tuned_parameters

    learns = hasattr(learner, "start")
    what = learner.paper + origin + (f"\n{learner.tunes}" if learns else "")
    count = f"{tuned_parameters(learner.published('')):,}".replace(",", " ")
    trains_on = ("plain" if learner.consumes == "embeddings" else learner.consumes) if learns else "nothing"
    return label, what, count, trains_on, learner.cost


def _detector(label: str, detector: type["OODDetector"], origin: str) -> tuple:
    from openworld.detectors import is_sequential

    looks_at = (*detector.needs, "stream") if is_sequential(detector) else detector.needs
    return label, detector.paper + origin, ", ".join(looks_at), detector.summary


def _estimator(label: str, estimator: type["Estimator"], origin: str) -> tuple:
    return label, estimator.paper + origin, ", ".join(estimator.needs) or "scores alone", estimator.summary


def _classifier(label: str, architecture: Any, _: str) -> tuple:
    from openworld.classifiers import build

    weights = sum(tensor.numel() for tensor in build(label, classes=100, side=32).parameters())
    return label, f"{weights:,}".replace(",", " "), architecture.paper, architecture.summary


def _dataset(label: str, card: Any, _: str) -> tuple:
    from openworld.datasets import DATASETS

    domains, names = list(filter(None, card.domains)), list(DATASETS)
    domain_names = (
        ", ".join(domains) if len(domains) <= 20 else f"{domains[0]}, ..., {domains[-1]} ({len(domains)} in all)"
    )
    above = DATASETS[names[names.index(label) - 1]] if label != names[0] else None
    if domains and above is not None and above.domains == card.domains:
        domain_names = "as above"
    return label, "yes" if card.download else "no", domain_names, card.summary


def _metric(label: str, card: Any, _: str) -> tuple:
    low, high = card.range
    if low is None:
        values = "any" if high is None else f"up to {high:g}"
    else:
        values = f"from {low:g}" if high is None else f"{low:g} to {high:g}"
    return label, values, card.summary, card.paper


KINDS: dict[str, tuple[Listed, ...]] = {
    "learners": (
        Listed(
            "learners:PLUGINS",
            "learners",
            (
                name("name"),
                words("paper, what it tunes", 36),
                Head("numbers"),
                name("trains on"),
                words("a step runs", 19),
            ),
            _learner,
            "Numbers tuned: with the published base-to-new settings, on ViT-B/16 with 50 base classes.\n"
            "Trains on: embeddings of plain images or of augmented views, on these and patch features of views\n"
            "(both encoded once and kept), or on the pixels of views, so that the image tower runs in every step.",
        ),
    ),
    "detectors": (
        Listed(
            "detectors:PLUGINS",
            "detectors of out-of-distribution images",
            (name("name"), words("paper"), words("looks at", 24), words("what", 34)),
            _detector,
            "Larger scores: more like the training data. Features enter the head, the classifier's last linear\n"
            "layer. Labels and bank, which keeps features, are of training images only. One forward pass serves\n"
            "all, but gradient takes a backward and a forward pass more, layer gradients a backward pass, maps\n"
            "the last stage once more, samples a forward pass each. Texts and patches are those of two-tower\n"
            "models. A detector that looks at the stream remembers the images that it scores, so its scores\n"
            "depend on their order and on the other images. The names of OpenOOD and pytorch-ood work, too, in\n"
            "upper or lower case: mls is MaxLogit, ebo Energy, klm KLM.",
        ),
    ),
    "estimators": (
        Listed(
            "estimators:PLUGINS",
            "estimators of accuracy without labels",
            (name("name"), words("paper", 22), words("needs"), words("what", 42)),
            _estimator,
            "All read the logits of the classifier in question. Labels: of source images only.\n"
            "Reference: similarities of another model, such as CLIP, to the class names. Partners: logits of\n"
            "models trained like it.\n"
            "A score becomes an estimate by regression over labelled sets (ScoreRegression).",
        ),
        Listed(
            "estimators.open_world:PLUGINS",
            "estimators of open-world quality without labels",
            (name("name"), words("paper", 20), words("needs", 18), words("what", 36)),
            _estimator,
            "OpenworldAUC and its parts on images of base and new classes of which nobody knows which are new.\n"
            "Labels: of base validation images. Reference: another model's similarities to all names; for\n"
            "positive-unlabelled, zero-shot CLIP. Each rests on a premise: its `premise` says which.",
        ),
    ),
    "classifiers": (
        Listed(
            "classifiers:ARCHITECTURES",
            "networks for small images, to be trained as classifiers",
            (name("name"), Head("weights"), words("paper"), words("what")),
            _classifier,
            "Weights: for 100 classes and images of 32 pixels. Others: timm:NAME, if that package is installed,\n"
            "or package.module:function, which returns any torch module.",
        ),
    ),
    "datasets": (
        Listed(
            "datasets:DATASETS",
            "data sets",
            (name("name"), name("download"), words("domains"), words("what")),
            _dataset,
            "Or your own: a folder of class folders, a list (.csv, .parquet), WebDataset shards (.tar), hf:user/name.\n"
            "Download: openworld data check NAME --root DIR says what to get, where to put it, and what is missing.",
        ),
    ),
    "backbones": (
        Listed(
            "backbones:BACKBONES",
            "backbones",
            (name("name"), name("M weights"), name("pixels"), words("what")),
            lambda label, card, _: (label, f"{card.parameters:g}", str(card.image_size), card.note),
            "Or a folder, a hub repository (OWNER/NAME), open_clip's MODEL/WEIGHTS; any other dual encoder\n"
            "by transformers:OWNER/NAME or open_clip:MODEL/WEIGHTS. openworld doctor NAME says what runs with it, and\n"
            "where its files go.",
        ),
    ),
    "metrics": (
        Listed(
            "metrics:METRICS",
            "metrics (openworld.metrics)",
            (name("name"), name("range"), words("what"), words("source")),
            _metric,
        ),
    ),
    "evaluations": (
        Listed(
            "evaluations:PLUGINS",
            "evaluations",
            (name("name"), words("what")),
            lambda label, evaluation, origin: (label, evaluation.spec.__doc__.splitlines()[0] + origin),
        ),
    ),
}
"""Kind -> its tables, one or several."""
