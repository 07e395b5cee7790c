"""What to download for a paper's tables and figures: from where, how large, into which folder, under which licence.

data_plan("frap", tables=["1"], root="path/to/data")      what is needed, what is there, what would spare work

The facts are those of `datasets.published.catalogue`; which data set a table needs follows from its runs.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from openworld.core.sizes import size_in_words
from openworld.datasets.checking import first_missing
from openworld.datasets.published.catalogue import cards, with_needs
from openworld.evaluations import evaluation_of
from openworld.papers import published_tables
from openworld.reproduction.figures import ALL, FIGURES
from openworld.reproduction.isood import CLASSIFIERS
from openworld.reproduction.plan import PAPERS, ReproductionPlan, plan
from openworld.reproduction.settings import ReproductionSetup

THERE, MISSING = "there", "missing"


def data_plan(
    paper: str, tables: Sequence[str] = (), root: str | Path | None = None, *, figures: Sequence[str] = ()
) -> dict[str, Any]:
    """Return what to download for tables and figures of a paper, plain values; naming neither means all of both.

    A data set's `state` is THERE where its folder and lists are, MISSING, or None where no folder was named. One that
    is not `needed` takes the place of what `instead_of` says where it is there. Bytes of files without a stated size
    are not counted.
    """
    if paper in PAPERS and not tables and not figures:
        tables, figures = tuple(published_tables(paper)), (ALL,) if FIGURES[paper] else ()
    folder = None if root is None else Path(root).expanduser()
    made = plan(paper, tuple(tables), ReproductionSetup(str(folder or "")), figures=tuple(figures))
    rows = _rows(made, folder)
    needed = [row for row in rows if row["needed"]]
    backbones = (name for run in made.runs for name in evaluation_of(run.spec).backbones(run.spec))
    models = (model for run in made.runs for model in getattr(run.spec, "models", ()))
    pretrained = (model.architecture for model in models if getattr(model, "recipe", {}).get("pretrained"))
    return {
        "paper": paper,
        "tables": list(made.tables),
        "figures": list(made.figures),
        "datasets": [*needed, *(row for row in rows if not row["needed"])],
        "bytes_needed": _bytes(needed),
        "bytes_to_download": _bytes(row for row in needed if row["state"] != THERE),
        "size_not_stated": [row["name"] for row in needed if cards()[row["name"]].unsized],
        "backbones": list(dict.fromkeys(backbones)),  # like those of `pretrained`, fetched when first needed
        "pretrained": list(dict.fromkeys(pretrained)),
    }


def sentences(plan: Mapping[str, Any]) -> tuple[str, ...]:
    """Return how much there is to download, and what is fetched by itself."""
    needed = [row for row in plan["datasets"] if row["needed"]]
    missing = [row["name"] for row in needed if row["state"] != THERE]
    total = "Nothing is left to download."
    if missing:
        total = f"To download: about {size_in_words(plan['bytes_to_download'])}."
    if unsized := [name for name in missing if name in plan["size_not_stated"]]:
        total = f"{total[:-1]}, and {', '.join(unsized)}, whose size is not stated here."
    if needed[0]["state"] is not None:
        total = f"{len(needed) - len(missing)} of {len(needed)} data sets are there. {total}"
    lines = [total]
    if len(needed) < len(plan["datasets"]):
        lines.append("What is marked * is not needed: it takes the place of what is said with it.")
    if weights := ", ".join((*plan["backbones"], *plan["pretrained"])):
        lines.append(f"Weights of {weights} are fetched when they are first needed.")
    return (*lines, "Sizes are those of the archives; what is unpacked from them takes room beside them.")


def _rows(made: ReproductionPlan, folder: Path | None) -> list[dict[str, Any]]:
    """Return every data set that the runs of a plan read: how to get it, what needs it, whether it is there."""
    further = getattr(PAPERS[made.paper], "further_downloads", lambda run: {})
    runs_of: dict[str, list] = {}
    instead: dict[str, str] = {}
    for run in made.runs:
        read = dict.fromkeys(with_needs(entry.dataset for entry in run.data if entry.dataset in cards()), "")
        for name, why in (further(run) | read).items():
            runs_of.setdefault(name, []).append(run)
            instead[name] = why and instead.get(name, why)  # what one run cannot do without is needed

    rows: list[dict[str, Any]] = []
    for name, runs in runs_of.items():
        card = cards()[name]
        facts = {"name": name, "title": card.title, "into": card.into, "licence": card.licence}
        files = [
            {"what": file.what, "address": file.address, "bytes": file.size, "exact": file.exact} for file in card.files
        ]
        used_for = {
            kind: [number for number in getattr(made, kind) if any(number in getattr(run, kind) for run in runs)]
            for kind in ("tables", "figures")
        }
        places = CLASSIFIERS if card.place in CLASSIFIERS else (card.place,)
        state = None
        if folder is not None:
            there = (
                any((folder / place).exists() for place in places) if card.place else not first_missing(name, folder)
            )
            state = THERE if there else MISSING
        use = {"state": state, "needed": not instead[name], "instead_of": instead[name] or None}
        rows.append(facts | {"files": files} | used_for | use)
    return rows


def _bytes(rows: Iterable[Mapping[str, Any]]) -> int:
    """Count every file once, also where several data sets share it."""
    files = {(file["what"], file["address"]): file["bytes"] or 0 for row in rows for file in row["files"]}
    return sum(files.values())
