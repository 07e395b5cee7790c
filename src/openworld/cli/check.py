"""`openworld check RUN`: is a finished run good enough? For pipelines: the answer is the exit code."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from openworld.cli._options import AsJson

SUMMARY = "GITHUB_STEP_SUMMARY"


def check(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    require: Annotated[
        list[str] | None, typer.Option(help='Such as "openworld_auc >= 0.5"; 50 % is 0.5. Repeat it: all must hold.')
    ] = None,
    of: Annotated[str, typer.Option(help="Only this learner, detector or estimator; default: all of the run.")] = "",
    against: Annotated[
        Path | None, typer.Option(help="Another run: this one must not be worse than it by more than --margin.")
    ] = None,
    margin: Annotated[float, typer.Option(help="Of --against, a fraction below 1: 0.01 is one point.")] = 0.01,
    metric: Annotated[str, typer.Option(help="What --against compares; default: the evaluation's first number.")] = "",
    where: Annotated[
        list[str] | None, typer.Option(help="Only numbers of this place, such as level=3; repeat it.")
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Also write JUnit XML into this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Hold a run's numbers against what is required of them, and answer with the exit code.

    ```
    openworld check runs/demo --of GMoP --require "openworld_auc >= 0.5"
    openworld check runs/new --against runs/old --margin 0.01 --junit check.xml
    ```

    Exit codes: 0 all hold; 3 something is broken; 4 something cannot be told with so few images, and nothing is
    broken; 2 wrong use. A number is tested by its 95 % interval: a requirement *holds* where the whole interval is on
    its right side, is *broken* where the whole interval is on the other side, and *cannot be told* in between; the
    table then says how many more images would tell, if the number stays as it is.

    `--against` asks whether the run may replace another one (non-inferiority): it holds where the interval of their
    paired difference lies above minus the margin.

    In a GitHub workflow the table also goes into the summary of the step.
    """
    from openworld.api.checking import check as hold_against
    from openworld.api.checking import junit as junit_text
    from openworld.cli import console
    from openworld.runs.atomic import write_file
    from openworld.runs.outputs import require_file

    require_file("--junit", junit, inputs=(run, against))
    places = dict(map(_place, where or ()))
    report = hold_against(run, require or (), of=of, against=against, margin=margin, metric=metric, where=places)
    if junit is not None:
        write_file(junit, junit_text(report.found).encode())
    if summary := os.environ.get(SUMMARY):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(f"{report.export('markdown')}\n{report.verdict[0]}\n")
    if as_json:
        console.write(report.to_json())
    else:
        report.show(console.output())
    sys.exit(report.found.exit_code)


def _place(text: str) -> tuple[str, str | int | float]:
    """A name and a value, which is a number where it reads as one.

    >>> _place("level=3"), _place("setting=emoji=1")
    (('level', 3), ('setting', 'emoji=1'))
    """
    from openworld._errors import OpenworldError

    name, equals, value = text.partition("=")
    if not (name and equals):
        raise OpenworldError(f"--where {text!r} is not understood; write it as level=3.")
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            pass
    return name, value
