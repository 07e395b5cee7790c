"""What to download for a paper's tables and figures: from where, how large, into which folder, under which licence.

data_plan("frap", tables=["1"], root="path/to/data")      what is needed, what is there, what would spare work

The facts are those of `datasets.published.downloads`; which data set a table needs follows from its runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openworld._sizes import size_in_words
from openworld.datasets import PUBLISHED, SHIFTED
from openworld.datasets.checking import first_missing
from openworld.datasets.published.downloads import Download, DownloadedFile, downloads, with_needs
from openworld.evaluations import evaluation_of
from openworld.papers import PAPERS as TITLES
from openworld.papers import published_tables
from openworld.reproduction.figures import ALL, FIGURES
from openworld.reproduction.isood import CLASSIFIERS
from openworld.reproduction.plan import PAPERS, ReproductionPlan, in_words, plan
from openworld.reproduction.settings import ReproductionSetup

THERE, MISSING, UNKNOWN = "there", "missing", ""


@dataclass(frozen=True)
class DataSetPlan:
    """What a paper needs of one data set.

    Args:
        download: what to get.
        title: what papers call the data set.
        tables: numbers of the tables that need it.
        figures: numbers of such figures.
        state: "there" (its folder and lists), "missing", or "" where no folder was named.
        instead: what it takes the place of where it is there; "" where nothing can be made without it.
    """

    download: Download
    title: str
    tables: tuple[str, ...]
    figures: tuple[str, ...]
    state: str = UNKNOWN
    instead: str = ""

    @property
    def needed(self) -> bool:
        """Whether tables or figures cannot be made without it."""
        return not self.instead

    def plain(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        files = [{"what": file.what, "address": file.address, **_size(file)} for file in self.download.files]
        return {
            "name": self.download.name,
            "title": self.title,
            "into": self.download.into,
            "licence": self.download.licence,
            "files": files,
            "tables": list(self.tables),
            "figures": list(self.figures),
            "state": self.state or None,
            "needed": self.needed,
            "instead_of": self.instead or None,
        }


@dataclass(frozen=True)
class DataPlan:
    """What to download for tables and figures of a paper.

    Args:
        paper: a key of `reproduction.plan.PAPERS`.
        tables, figures: numbers of those that it is for.
        datasets: needed ones first, each once.
        backbones: names of models whose weights are fetched when they are first needed.
        pretrained: architectures that begin with weights which their library fetches.
    """

    paper: str
    tables: tuple[str, ...]
    figures: tuple[str, ...]
    datasets: tuple[DataSetPlan, ...]
    backbones: tuple[str, ...] = ()
    pretrained: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """The paper, and what of it."""
        return f"{TITLES[self.paper]} · {in_words(self.tables, self.figures)}"

    @property
    def needed(self) -> tuple[DataSetPlan, ...]:
        """The data sets without which tables or figures cannot be made."""
        return tuple(entry for entry in self.datasets if entry.needed)

    @property
    def sentences(self) -> tuple[str, ...]:
        """How much there is to download, and what is fetched by itself."""
        missing = [entry for entry in self.needed if entry.state != THERE]
        known = any(entry.state for entry in self.datasets)
        there = f"{len(self.needed) - len(missing)} of {len(self.needed)} data sets are there. " if known else ""
        total = f"{there}To download: {_amount(missing)}." if missing else f"{there}Nothing is left to download."
        spare = [entry for entry in self.datasets if not entry.needed and entry.state != THERE]
        sentences = [total]
        if spare:
            marked = "What is marked * is not needed: where it is there, it takes the place of what is said with it."
            sentences.append(f"{marked} All of it together: {_amount(spare)}.")
        if self.backbones:
            sentences.append(
                f"Weights of {', '.join(self.backbones)} are fetched when they are first needed (openworld backbone "
                f"check {self.backbones[0]} says which files)."
            )
        if self.pretrained:
            sentences.append(f"The library timm fetches the pretrained weights of {', '.join(self.pretrained)}.")
        return (*sentences, "Sizes are those of the archives; what is unpacked from them takes room beside them.")

    def plain(self) -> dict[str, Any]:
        """Return it as plain values for JSON; bytes of files without a stated size are not counted."""
        missing = [entry for entry in self.needed if entry.state != THERE]
        return {
            "paper": self.paper,
            "tables": list(self.tables),
            "figures": list(self.figures),
            "datasets": [entry.plain() for entry in self.datasets],
            "bytes_needed": _bytes(self.needed),
            "bytes_to_download": _bytes(missing),
            "size_not_stated": [entry.download.name for entry in self.needed if entry.download.unsized],
            "backbones": list(self.backbones),
            "pretrained": list(self.pretrained),
        }


def data_plan(
    paper: str, tables: Sequence[str] = (), root: str | Path | None = None, *, figures: Sequence[str] = ()
) -> DataPlan:
    """What to download for tables and figures of a paper.

    Args:
        paper: "openworldauc", "openpl", "frap" or "is-ood".
        tables: numbers of tables; () for all where no figure is named.
        root: the folder of all data sets, which is looked at; None for none.
        figures: numbers of figures, or ("all",); () for all where no table is named.

    Raises:
        OpenworldError: an unknown paper, table or figure.

    >>> [entry.download.name for entry in data_plan("openworldauc", ["11"]).datasets]
    ['dtd']
    """
    if paper in PAPERS and not tables and not figures:
        tables, figures = tuple(published_tables(paper)), (ALL,) if FIGURES[paper] else ()
    folder = None if root is None else Path(root).expanduser()
    made = plan(paper, tuple(tables), ReproductionSetup(str(folder or "")), figures=tuple(figures))
    uses = _uses(made)
    states = {name: _state(name, folder) for name in uses}
    entries = [
        DataSetPlan(downloads()[name], _title(name), *_numbers(made, runs), states[name], instead)
        for name, (runs, instead) in uses.items()
    ]
    ordered = sorted(entries, key=lambda entry: not entry.needed)
    return DataPlan(paper, made.tables, made.figures, tuple(ordered), _backbones(made), _pretrained(made))


def _uses(made: ReproductionPlan) -> dict[str, tuple[set[str], str]]:
    """Data set -> (names of the runs that read it, what it takes the place of; "" where it is needed)."""
    further = getattr(PAPERS[made.paper], "further_downloads", lambda run: {})
    found: dict[str, tuple[set[str], str]] = {}
    for run in made.runs:
        own = dict.fromkeys(with_needs(entry.dataset for entry in run.data if entry.dataset in downloads()), "")
        for name, instead in (own | {name: why for name, why in further(run).items() if name not in own}).items():
            runs, known = found.get(name, (set(), instead))
            found[name] = ({*runs, run.name}, instead if known else "")
    return found


def _numbers(made: ReproductionPlan, names: set[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tables and figures that are read from some runs, in the paper's order."""
    runs = [run for run in made.runs if run.name in names]
    tables = {number for run in runs for number in run.tables}
    figures = {number for run in runs for number in run.figures}
    return tuple(n for n in made.tables if n in tables), tuple(n for n in made.figures if n in figures)


def _state(name: str, root: Path | None) -> str:
    if root is None:
        return UNKNOWN
    entry = downloads()[name]
    there = any((root / place).exists() for place in _places(entry)) if entry.place else not first_missing(name, root)
    return THERE if there else MISSING


def _places(entry: Download) -> tuple[str, ...]:
    return CLASSIFIERS if entry.place in CLASSIFIERS else (entry.place,)


def _title(name: str) -> str:
    card: Any = PUBLISHED.get(name) or SHIFTED.get(name)
    return card.title if card else downloads()[name].title


def _backbones(made: ReproductionPlan) -> tuple[str, ...]:
    named = (name for run in made.runs for name in evaluation_of(run.spec).backbones(run.spec))
    return tuple(dict.fromkeys(named))


def _pretrained(made: ReproductionPlan) -> tuple[str, ...]:
    """Architectures of timm whose recipes begin with pretrained weights."""
    models = (model for run in made.runs for model in getattr(run.spec, "models", ()))
    named = (model.architecture for model in models if getattr(model, "recipe", {}).get("pretrained"))
    return tuple(dict.fromkeys(named))


def _files(entries: Sequence[DataSetPlan]) -> dict[tuple[str, str], DownloadedFile]:
    """Every file of some data sets once."""
    return {(file.what, file.address): file for entry in entries for file in entry.download.files}


def _bytes(entries: Sequence[DataSetPlan]) -> int:
    return sum(file.size or 0 for file in _files(entries).values())


def _amount(entries: Sequence[DataSetPlan]) -> str:
    """Bytes in words, and how many data sets they leave out."""
    unsized = [entry.download.name for entry in entries if entry.download.unsized]
    beside = f", and {', '.join(unsized)}, whose size is not stated here" if unsized else ""
    return f"about {size_in_words(_bytes(entries))}{beside}"


def _size(file: DownloadedFile) -> Mapping[str, Any]:
    return {"bytes": file.size, "exact": file.exact}
