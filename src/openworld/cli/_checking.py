"""The words of `openworld data check`."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from openworld.datasets import DATASETS, PUBLISHED, SHIFTED, check
from openworld.datasets.checking import Inspection
from openworld.datasets.published.catalogue import COOP_PAGE

_SHOWN = 8


def inspect(names: Sequence[str], root: Path | None, decode: bool) -> list[Inspection]:
    """Look at each data set named; "all" and "shifted" stand for several."""
    several = {"all": PUBLISHED, "shifted": SHIFTED}
    wanted = dict.fromkeys(own for name in names for own in several.get(name, (name,)))
    along = {name for name in wanted if name in DATASETS and not DATASETS[name].download}
    whole = ("comes with openworld: there is nothing to download",)
    return [
        Inspection(name, "", None, {}, (), whole, ()) if name in along else check(name, root, decoded=decode)
        for name in wanted
    ]


def say(found: Sequence[Inspection], out, quiet: bool) -> None:
    """Print what was found of each; addresses only where something is wrong."""
    for one in found:
        if one.ok and not quiet:
            out.print(f"{one.name}: whole. {_counts(one)}", markup=False)
            for remark in one.remarks:
                out.print(f"  {remark}", markup=False)
        elif not one.ok:
            _say_wrong(one, out)


def as_json(found: Sequence[Inspection]) -> str:
    """A list with an object per data set."""
    return json.dumps([asdict(one) | {"ok": one.ok} for one in found], indent=1)


def _say_wrong(one: Inspection, out) -> None:
    out.print(f"{one.name}: not ready. {_counts(one)}".rstrip(), markup=False)
    for number, sentence in enumerate(one.wrong, start=1):
        out.print(f"  {number}. {sentence}", markup=False)
    layout = f" (layout: {COOP_PAGE})" if one.name in PUBLISHED else ""
    out.print(f"  Where to get it{layout}:", markup=False)
    for what, address in one.sources:
        out.print(f"    {what}: {address}", markup=False)


def _counts(one: Inspection) -> str:
    if one.classes is None:
        return ""
    parts = ", ".join(f"{count:,} {part}" for part, count in one.pictures.items())
    if len(one.pictures) > _SHOWN:
        parts = f"{sum(one.pictures.values()):,} in {len(one.pictures)} conditions"
    return f"{one.classes} classes; images: {parts}."
