"""The plan of a reproduction and its cost, on screen and as JSON."""

from dataclasses import asdict
from pathlib import Path

from openworld import __version__


def say_plan(plan, cost, out) -> None:
    """What runs, for which tables, and what it costs."""
    from rich.text import Text

    from openworld import _terminal as terminal
    from openworld.papers import PAPERS

    setup = plan.setup
    data = "embedded data, which stand in for the paper's" if setup.embedded else f"data in {setup.data}"
    parts = [
        f"openworld {__version__}",
        PAPERS[plan.paper],
        tables_in_words(plan.tables),
        data,
        f"backbone {setup.backbone}",
        f"seeds {' '.join(map(str, setup.seeds))}",
    ]
    out.print(" · ".join(parts), markup=False)
    rows = [(run.name, str(run.units), f"{run.images:,}", tables_in_words(run.tables)) for run in cost.runs]
    heads = terminal.name("run"), terminal.Head("units"), terminal.Head("images"), terminal.words("for")
    out.print(terminal.TerminalTable(heads, rows))
    left_out = (f"Table {number} is left out: {reason}." for number, reason in plan.left_out.items())
    for line in (*cost.sentences, *plan.remarks, *left_out):
        out.print(Text(line))


def say_missing(plan, out) -> None:
    """Which data sets would have to be downloaded first."""
    from openworld._errors import OpenworldError
    from openworld.datasets.checking import require_places

    if plan.downloads and not Path(plan.setup.data).is_dir():
        out.print(
            f"There is no folder {plan.setup.data} yet. It must hold {len(plan.downloads)} data set(s): "
            f"{', '.join(plan.downloads)} (openworld data check NAME --root DIR says where to get each).",
            markup=False,
        )
        return
    try:
        require_places(plan.downloads, plan.setup.data)
    except OpenworldError as error:
        out.print(str(error), style="yellow", markup=False)


def plan_as_json(plan, cost) -> dict:
    """Plain values: the runs with their specs, and the cost."""
    from openworld.runs import to_json

    runs = [
        {"name": run.name, "tables": run.tables, "datasets": run.datasets, "methods": run.methods, "spec": run.spec}
        for run in plan.runs
    ]
    told = {"units": cost.units, "images": cost.images} | asdict(cost)
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
