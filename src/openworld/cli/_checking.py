"""The words of `openworld data check`."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from openworld.datasets import DATASETS, PUBLISHED, SHIFTED, check
from openworld.datasets.checking import Inspection
from openworld.datasets.published.catalogue import COOP_PAGE
from openworld.datasets.published.openood import BENCHMARKS

_SHOWN = 8


def inspect(names: Sequence[str], root: Path | None, decode: bool) -> list[Inspection]:
    """Look at each data set named; "all", "shifted" and "openood" stand for several."""
    several = {"all": PUBLISHED, "shifted": SHIFTED, "openood": BENCHMARKS}
    wanted = dict.fromkeys(dataset for name in names for dataset in several.get(name, (name,)))
    along = {name for name in wanted if name in DATASETS and not DATASETS[name].download}
    whole = ("comes with openworld: there is nothing to download",)
    return [
        Inspection(name, "", None, {}, (), whole, ()) if name in along else check(name, root, decoded=decode)
        for name in wanted
    ]


def say(inspections: Sequence[Inspection], out, quiet: bool) -> None:
    """Print what was found of each; addresses only where something is wrong."""
    for inspection in inspections:
        if inspection.ok and not quiet:
            out.print(f"{inspection.name}: whole. {_counts(inspection)}", markup=False)
            for remark in inspection.remarks:
                out.print(f"  {remark}", markup=False)
        elif not inspection.ok:
            _say_wrong(inspection, out)


def as_json(inspections: Sequence[Inspection]) -> str:
    """A list with an object per data set."""
    return json.dumps([asdict(inspection) | {"ok": inspection.ok} for inspection in inspections], indent=1)


def _say_wrong(inspection: Inspection, out) -> None:
    out.print(f"{inspection.name}: not ready. {_counts(inspection)}".rstrip(), markup=False)
    for number, sentence in enumerate(inspection.wrong, start=1):
        out.print(f"  {number}. {sentence}", markup=False)
    layout = f" (layout: {COOP_PAGE})" if inspection.name in PUBLISHED else ""
    out.print(f"  Where to get it{layout}:", markup=False)
    for what, address in inspection.sources:
        out.print(f"    {what}: {address}", markup=False)


def _counts(inspection: Inspection) -> str:
    if inspection.classes is None:
        return ""
    parts = ", ".join(f"{count:,} {part}" for part, count in inspection.pictures.items())
    if len(inspection.pictures) > _SHOWN:
        parts = f"{sum(inspection.pictures.values()):,} in {len(inspection.pictures)} conditions"
    return f"{inspection.classes} classes; images: {parts}."
