"""What to download for a paper's tables and figures: from where, how large, into which folder, under which licence.

data_plan("frap", tables=["1"], root="path/to/data")      what is needed, what is there, what would spare work

The facts are those of `datasets.published.catalogue`; which data set a table needs follows from its runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openworld.core.sizes import size_in_words
from openworld.datasets.checking import first_missing
from openworld.datasets.published.catalogue import DatasetCard, cards, with_needs
from openworld.evaluations import evaluation_of
from openworld.papers import published_tables
from openworld.reproduction.figures import ALL, FIGURES
from openworld.reproduction.isood import CLASSIFIERS
from openworld.reproduction.plan import PAPERS, plan
from openworld.reproduction.settings import ReproductionSetup

THERE, MISSING, UNKNOWN = "there", "missing", ""


@dataclass(frozen=True)
class DataSetPlan:
    """What a paper needs of one data set: how to get it, its title, and the tables and figures that need it."""

    download: DatasetCard
    title: str
    tables: tuple[str, ...]
    figures: tuple[str, ...]
    state: str  # THERE: its folder and lists are; MISSING; UNKNOWN where no folder was named
    instead: str  # what it takes the place of where it is there; "" where nothing can be made without it

    @property
    def needed(self) -> bool:
        return not self.instead


@dataclass(frozen=True)
class DataPlan:
    """What to download for tables and figures of a paper: needed data sets first, each once."""

    paper: str
    tables: tuple[str, ...]
    figures: tuple[str, ...]
    datasets: tuple[DataSetPlan, ...]
    backbones: tuple[str, ...]  # like those of `pretrained` architectures, weights are fetched when first needed
    pretrained: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """How much there is to download, and what is fetched by itself."""
        needed = [entry for entry in self.datasets if entry.needed]
        missing = [entry.download for entry in needed if entry.state != THERE]
        total = f"To download: about {size_in_words(_bytes(missing))}." if missing else "Nothing is left to download."
        if unsized := [download.name for download in missing if download.unsized]:
            total = f"{total[:-1]}, and {', '.join(unsized)}, whose size is not stated here."
        if needed[0].state != UNKNOWN:
            total = f"{len(needed) - len(missing)} of {len(needed)} data sets are there. {total}"
        sentences = [total]
        if len(needed) < len(self.datasets):
            sentences.append("What is marked * is not needed: it takes the place of what is said with it.")
        if weights := ", ".join((*self.backbones, *self.pretrained)):
            sentences.append(f"Weights of {weights} are fetched when they are first needed.")
        return (*sentences, "Sizes are those of the archives; what is unpacked from them takes room beside them.")

    def plain(self) -> dict[str, Any]:
        """Return it as plain values for JSON; bytes of files without a stated size are not counted."""
        needed = [entry for entry in self.datasets if entry.needed]
        return {
            "paper": self.paper,
            "tables": list(self.tables),
            "figures": list(self.figures),
            "datasets": [_plain(entry) for entry in self.datasets],
            "bytes_needed": _bytes([entry.download for entry in needed]),
            "bytes_to_download": _bytes([entry.download for entry in needed if entry.state != THERE]),
            "size_not_stated": [entry.download.name for entry in needed if entry.download.unsized],
            "backbones": list(self.backbones),
            "pretrained": list(self.pretrained),
        }


def data_plan(
    paper: str, tables: Sequence[str] = (), root: str | Path | None = None, *, figures: Sequence[str] = ()
) -> DataPlan:
    """Return what to download for tables and figures of a paper; naming neither means all of both."""
    if paper in PAPERS and not tables and not figures:
        tables, figures = tuple(published_tables(paper)), (ALL,) if FIGURES[paper] else ()
    folder, data_cards = None if root is None else Path(root).expanduser(), cards()
    made = plan(paper, tuple(tables), ReproductionSetup(str(folder or "")), figures=tuple(figures))
    further = getattr(PAPERS[paper], "further_downloads", lambda run: {})
    runs_of: dict[str, list] = {}
    instead: dict[str, str] = {}
    for run in made.runs:
        read = dict.fromkeys(with_needs(entry.dataset for entry in run.data if entry.dataset in data_cards), "")
        for name, why in (further(run) | read).items():
            runs_of.setdefault(name, []).append(run)
            instead[name] = why and instead.get(name, why)  # what one run cannot do without is needed

    entries = []
    for name, runs in runs_of.items():
        for_tables, for_figures = (
            tuple(number for number in getattr(made, kind) if any(number in getattr(run, kind) for run in runs))
            for kind in ("tables", "figures")
        )
        state = UNKNOWN if folder is None else THERE if _is_there(data_cards[name], folder) else MISSING
        entries.append(
            DataSetPlan(data_cards[name], data_cards[name].title, for_tables, for_figures, state, instead[name])
        )

    backbones = (name for run in made.runs for name in evaluation_of(run.spec).backbones(run.spec))
    models = (model for run in made.runs for model in getattr(run.spec, "models", ()))
    pretrained = (model.architecture for model in models if getattr(model, "recipe", {}).get("pretrained"))
    ordered = tuple(sorted(entries, key=lambda entry: not entry.needed))
    return DataPlan(
        paper, made.tables, made.figures, ordered, tuple(dict.fromkeys(backbones)), tuple(dict.fromkeys(pretrained))
    )


def _is_there(download: DatasetCard, root: Path) -> bool:
    if not download.place:
        return not first_missing(download.name, root)
    places = CLASSIFIERS if download.place in CLASSIFIERS else (download.place,)
    return any((root / place).exists() for place in places)


def _bytes(needed: Sequence[DatasetCard]) -> int:
    """Count every file once, also where several data sets share it."""
    files = {(file.what, file.address): file.size or 0 for download in needed for file in download.files}
    return sum(files.values())


def _plain(entry: DataSetPlan) -> dict[str, Any]:
    files = [
        {"what": file.what, "address": file.address, "bytes": file.size, "exact": file.exact}
        for file in entry.download.files
    ]
    return {
        "name": entry.download.name,
        "title": entry.title,
        "into": entry.download.into,
        "licence": entry.download.licence,
        "files": files,
        "tables": list(entry.tables),
        "figures": list(entry.figures),
        "state": entry.state or None,
        "needed": entry.needed,
        "instead_of": entry.instead or None,
    }
