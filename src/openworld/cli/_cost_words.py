"""What a reproduction will cost, and what it came to, in words."""

from dataclasses import asdict
from pathlib import Path

from openworld import __version__
from openworld._sizes import size_in_words as size

MOST_TOLD = 3


def say_plan(plan, cost, out) -> None:
    """What runs, for which tables, and what it costs."""
    from rich.text import Text

    from openworld.cli._estimation_cost_words import of_estimation
    from openworld.papers import PAPERS

    ground = plan.ground
    data = "embedded data, which stand in for the paper's" if ground.embedded else f"data in {ground.data}"
    parts = [
        f"openworld {__version__}",
        PAPERS[plan.paper],
        tables_in_words(plan.tables),
        data,
        f"backbone {ground.backbone}",
        f"seeds {' '.join(map(str, ground.seeds))}",
    ]
    out.print(" · ".join(parts), markup=False)
    told = of_estimation if plan.estimates else _of_shift if plan.shifts else _of_learners
    heads, rows, lines = told(cost)
    out.print(_table(heads, rows))
    left_out = (f"Table {number} is left out: {reason}." for number, reason in plan.left_out.items())
    for line in (*lines, *plan.remarks, *left_out):
        out.print(Text(line))


def say_missing(plan, out) -> None:
    """Which data sets would have to be downloaded first."""
    from openworld._errors import OpenworldError
    from openworld.datasets.checking import require_places

    if plan.downloads and not Path(plan.ground.data).is_dir():
        out.print(
            f"There is no folder {plan.ground.data} yet. It must hold {len(plan.downloads)} data set(s): "
            f"{', '.join(plan.downloads)} (openworld data check NAME --root DIR says where to get each).",
            markup=False,
        )
        return
    try:
        require_places(plan.downloads, plan.ground.data)
    except OpenworldError as error:
        out.print(str(error), style="yellow", markup=False)


def say_truth(cost, unit_seconds: float, seconds: float, out) -> None:
    """What it took beside what was expected; nothing where nothing was measured, or much was there before."""
    expected = sum(run.unit_seconds or 0.0 for run in cost.runs)
    if not expected or seconds * cost.workers < 0.5 * unit_seconds:
        return
    out.print(
        f"All took {duration(seconds)}; the units {duration(unit_seconds)} of work, where {duration(expected)} were "
        f"expected ({unit_seconds / expected:.2f} times as long).",
        markup=False,
    )


def plan_as_json(plan, cost) -> dict:
    """Plain values: the runs with their specs, and the cost."""
    from openworld.runs import to_json

    runs = [
        {"name": run.name, "tables": run.tables, "datasets": run.datasets, "methods": run.methods, "spec": run.spec}
        for run in plan.runs
    ]
    told = {"units": cost.units, "seconds": cost.seconds} | asdict(cost)
    tables = {"tables": plan.tables, "left_out": plan.left_out, "remarks": plan.remarks}
    return to_json({"paper": plan.paper} | tables | {"runs": runs, "cost": told}, "plan")


def tables_in_words(numbers) -> str:
    """The tables of a plan, runs of consecutive ones drawn together.

    >>> tables_in_words(("2",)), tables_in_words(("2", "3", "4", "8-9", "11"))
    ('Table 2', 'Tables 2 to 4, 8-9, 11')
    """
    groups: list[list[str]] = []
    for number in numbers:
        follows = groups and number.isdigit() and groups[-1][-1].isdigit() and int(number) == int(groups[-1][-1]) + 1
        if follows:
            groups[-1].append(number)
        else:
            groups.append([number])
    spans = [f"{group[0]} to {group[-1]}" if len(group) > 2 else ", ".join(group) for group in groups]
    return f"Table{'s' * (len(numbers) > 1)} {', '.join(spans)}"


def duration(seconds: float) -> str:
    """As people say it.

    >>> duration(12.2), duration(310), duration(5400), duration(500_000)
    ('12 s', '5 min', '1.5 h', '139 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 36_000 else f"{seconds / 3600:,.0f} h"


def about(run) -> str:
    """How long a run will take; a dash where nothing was measured."""
    return "–" if run.seconds is None else duration(run.seconds)


def _table(heads, rows):
    from openworld import _terminal as terminal

    first, *numbers = heads
    return terminal.TerminalTable((terminal.name(first), *map(terminal.Head, numbers), terminal.words("for")), rows)


def _of_learners(cost) -> tuple[tuple[str, ...], list[tuple[str, ...]], list[str]]:
    """Heads, rows and sentences."""
    heads = ("run", "units", "to encode", "about")
    rows = [
        (run.name, str(run.units), f"{run.pictures:,}", about(run), tables_in_words(run.tables)) for run in cost.runs
    ]
    return heads, rows, _lines(cost)


def _of_shift(cost) -> tuple[tuple[str, ...], list[tuple[str, ...]], list[str]]:
    """The same where detectors are judged, or decompositions."""
    heads = ("run", "judged", "pictures", "about")
    rows = [
        (run.name, str(run.units), f"{run.pictures:,}", about(run), tables_in_words(run.tables)) for run in cost.runs
    ]
    lines = [
        f"In all {cost.units:,} judged classifiers, each with every detector, and decompositions; {cost.pictures:,} "
        f"pictures, beside those that are learned from; {size(cost.feature_bytes)} of disk for embeddings and "
        f"{size(cost.record_bytes)} for the records. What is there already is not done again."
    ]
    if cost.seconds is not None:
        lines.append(
            f"About {duration(cost.seconds)} with {cost.workers} worker(s), if nothing else runs here: an estimate, "
            "from a few steps and pictures and straight lines."
        )
    if cost.guessed:
        lines.append(f"Not installed here, and taken for as slow as a network of ours: {', '.join(cost.guessed)}.")
    return heads, rows, lines


def _lines(cost) -> list[str]:
    features, records = size(cost.feature_bytes), size(cost.record_bytes)
    lines = [
        f"In all {cost.units:,} units (one learner with one seed), each counted once; {cost.pictures:,} pictures to "
        f"encode, with their augmented views {cost.passes:,} passes through the image tower; {features} of disk for "
        f"them and {records} for the records. What is there already is not done again."
    ]
    lines += [_limited(cost.limited)] if cost.limited else []
    if cost.seconds is not None:
        most = list(cost.learners.items())[:MOST_TOLD]
        whole = sum(cost.learners.values()) or 1.0
        shares = ", ".join(f"{name} {100 * seconds / whole:.0f} %" for name, seconds in most)
        lines.append(
            f"About {duration(cost.seconds)} with {cost.workers} worker(s), if nothing else runs here: an estimate, "
            f"from a few steps and pictures of each learner and straight lines. Of the units' time: {shares}."
        )
    if cost.guessed:
        lines.append(f"Measured by single training steps, for lack of time: {', '.join(cost.guessed)}.")
    return lines


def _limited(disk) -> str:
    """What is kept and what is made again, where the cache has a limit."""
    return (
        f"Of encoded pictures {size(disk.most)} are kept at a time, of {size(disk.whole)}: embeddings, the training "
        "set that a unit is at, and what else there is room for; what was used longest ago goes first. Training sets "
        f"made more than once: {disk.made_again:,}. Patch rows computed again by units and not kept: of "
        f"{disk.streamed:,} pictures; pixels that are not kept are read from the pictures' files."
    )
