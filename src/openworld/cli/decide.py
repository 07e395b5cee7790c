"""`openworld decide RUN`: from a finished run to the threshold to run it with."""

from pathlib import Path
from typing import Annotated

import typer

from openworld.cli._options import AsJson


def decide(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    miss_rate: Annotated[
        float | None, typer.Option(help="Rule: flag as many as this share of base images missed allows.")
    ] = None,
    hit_rate: Annotated[
        float | None, typer.Option(help="Rule: flag as few as this share of new images hit allows.")
    ] = None,
    cost_miss: Annotated[
        float | None, typer.Option(help="Rule: least cost; of a base image flagged or misnamed.")
    ] = None,
    cost_unhit: Annotated[
        float | None, typer.Option(help="Beside --cost-miss: of a new image not flagged, or misnamed.")
    ] = None,
    cost_kept: Annotated[float | None, typer.Option(help="Of a base image kept and named right; 0.")] = None,
    cost_hit: Annotated[float | None, typer.Option(help="Of a new image flagged and named right; 0.")] = None,
    new_share: Annotated[
        float | None, typer.Option(help="Share of new images where it will run; default: as in the run.")
    ] = None,
    learner: Annotated[str, typer.Option(help="Only this learner, as the run calls it.")] = "",
    page: Annotated[Path | None, typer.Option(help="Also write the report page, with the decision in it.")] = None,
    as_json: AsJson = False,
) -> None:
    """Choose the threshold below which an image is flagged as new, and say what that misses and hits.

    Give one rule. The threshold is chosen on the run's validation images and measured on its test images:

    ```
    openworld decide runs/demo --miss-rate 0.3  # at most 30 % missed
    openworld decide runs/demo --hit-rate 0.5   # at least half hit
    openworld decide runs/demo --cost-miss 1 --cost-unhit 5 --new-share 0.1
    ```

    A base image is *missed* when it is flagged or misnamed; a new one is *hit* when it is flagged and named right.
    Rates come with intervals over the test images. The last lines are commands: `openworld predict` with the
    threshold, one for each seed, since each seed learned something else. A threshold holds for the names it was chosen
    with: more new names, and baseness falls.
    """
    from openworld.api.deciding import decide as choose
    from openworld.cli import console

    costs = {"cost_miss": cost_miss, "cost_unhit": cost_unhit, "cost_kept": cost_kept, "cost_hit": cost_hit}
    report = choose(run, miss_rate=miss_rate, hit_rate=hit_rate, new_share=new_share, learner=learner, **costs)
    if page is not None:
        report.found.report_of_run().save_report(page)
    if as_json:
        console.write(report.to_json())
        return
    out = console.output()
    _show(report.found, out)
    if page is not None:
        out.print(f"Report: {page}", markup=False)


def _show(choice, out) -> None:
    """Show every setting's table; then, of the learner that validation images prefer, the sentence and commands."""
    from openworld.report.render import terminal_table

    for decision in choice.decisions:
        out.print()
        out.print(terminal_table(decision.table))
        out.print(decision.text, markup=False)
        if decision.preferred is not None and len(decision.table.rows) > 1:
            best = decision.preferred.learner
            out.print(f"({best} is best by what the validation images say; --learner chooses another.)")
        for line in choice.commands(decision):
            out.print(f"  {line}", markup=False)
