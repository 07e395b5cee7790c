"""`openworld compare RUN RUN`: is the second run better than the first?"""

from pathlib import Path
from typing import Annotated

import typer


def compare(
    first: Annotated[Path, typer.Argument(help="Folder of a run.")],
    second: Annotated[Path, typer.Argument(help="Folder of another run on the same test pictures.")],
    of: Annotated[
        str, typer.Option(help="What to compare: openworld_auc, auroc, base_accuracy, new_accuracy, harmonic_mean, ...")
    ] = "openworld_auc",
    as_json: Annotated[bool, typer.Option("--json", help="As JSON instead.")] = False,
) -> None:
    """Compare two runs record by record, and say for each learner whether it got better.

    Records are paired by task, learner and seed. What stands still within each run and differs between them, such as
    the backbone or the number of shots, is what you compare; with one learner in each run, it may be the learner. What
    else was asked differently, such as the settings of a learner, is told above the table.
    Every row is a paired test on the same test pictures, corrected over the table (Holm). Runs on other pictures are
    refused: their difference would be one of pictures too.

    Two runs of incremental shift on one pool are set side by side, detector by detector; there is no test then.
    """
    import json
    from dataclasses import asdict

    from openworld import report
    from openworld.cli import console
    from openworld.report.asked import asked_differently
    from openworld.report.pairing import compare_runs

    names = str(first), str(second)
    if report.shifted(first) and report.shifted(second):
        _compare_shifts(report.load_shifts(first), report.load_shifts(second), names, as_json=as_json)
        return
    runs = report.load(first), report.load(second)
    found = compare_runs(runs[0].outcomes, runs[1].outcomes, of, names)
    known = {field for field, _, _ in found.changed} | {"dataset"}
    asked = [one for one in asked_differently(*runs) if one[0] not in known]
    if as_json:
        rows = [asdict(pair) | {"verdict": pair.verdict} for pair in found.pairs]
        print(json.dumps(asdict(found) | {"pairs": rows, "asked_differently": asked}, indent=1))
        return
    out = console.output()
    for field, before, after in [*found.changed, *asked]:
        out.print(f"{field.replace('_', ' ')}: {before} → {after}", markup=False)
    out.print(_table(found, names))
    for sentence in found.unpaired:
        out.print(f"Not compared: {sentence}.", style="dim", markup=False)


def _compare_shifts(first, second, names: tuple[str, str], *, as_json: bool) -> None:
    import json
    from dataclasses import asdict

    from openworld.cli import console
    from openworld.report.shifts.pairing import compare_shifts

    pairs = compare_shifts(first, second, names)
    if as_json:
        print(json.dumps([asdict(pair) for pair in pairs], indent=1))
        return
    console.output().print(_shift_table(pairs, names))


def _shift_table(pairs, names: tuple[str, str]):
    from rich.table import Table
    from rich.text import Text

    from openworld.report.figures.figure import percent, signed

    def moved(slopes) -> str:
        return " → ".join("–" if one is None else signed(one) for one in slopes)

    told = (
        f"First: {names[0]}. Second: {names[1]}. AUROC against the whole pool, percent, means over the seeds; [95 % "
        "over the seeds that both have]; cells: mean difference over cells; slopes in points per level on common "
        "cells. Nothing is tested over pictures."
    )
    table = Table(box=None, pad_edge=False, caption=Text(told), caption_justify="left")
    table.add_column("")
    for heading in ("first", "second", "difference", "cells", "semantic slope", "covariate slope"):
        table.add_column(heading, justify="right", no_wrap=True)
    for pair in pairs:
        apart = pair.difference
        difference = "–" if apart.value is None else signed(apart.value)
        if apart.interval:
            difference += f" [{signed(apart.interval[0])} {signed(apart.interval[1])}]"
        cells = "–" if pair.cells is None else signed(pair.cells)
        numbers = (percent(pair.first.value), percent(pair.second.value), difference, cells)
        table.add_row(*map(Text, (pair.title, *numbers, *map(moved, pair.slopes.values()))))
    return table


def _table(found, names: tuple[str, str]):
    from rich.table import Table
    from rich.text import Text

    from openworld.report.figures.figure import percent, signed

    table = Table(box=None, pad_edge=False, caption=_caption(found, names), caption_justify="left")
    table.add_column("")
    for heading in ("first", "second", "difference"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("second against first")
    for pair in found.pairs:
        difference = "–" if pair.test.difference is None else signed(pair.test.difference)
        if pair.interval:
            difference += f" [{signed(pair.interval[0])} {signed(pair.interval[1])}]"
        cells = (pair.title, percent(pair.first), percent(pair.second), difference, pair.verdict)
        table.add_row(*map(Text, cells))
    return table


def _caption(found, names: tuple[str, str]):
    from rich.text import Text

    def span(values) -> str:
        return f"{min(values)}" if min(values) == max(values) else f"{min(values)} to {max(values)}"

    images, groups = span([pair.images for pair in found.pairs]), span([pair.groups for pair in found.pairs])
    clustered = f" in {groups} groups" if groups != images else ""
    counts = [len(pair.seeds) for pair in found.pairs]
    seeds = f"mean of {span(counts)} seed" if max(counts) == 1 else f"means of {span(counts)} seeds"
    tested = sum(pair.test.p is not None for pair in found.pairs)
    corrected = f"; p after Holm over {tested} tests" if tested > 1 else ""
    return Text(
        f"First: {names[0]}. Second: {names[1]}. {found.of}, percent; {seeds}; [95 % over images, "
        f"n = {images}{clustered}, given the seeds]{corrected}."
    )
