"""`openworld decide RUN`: from a finished run to the threshold to run it with."""

from pathlib import Path
from typing import Annotated

import typer


def decide(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    miss_rate: Annotated[
        float | None, typer.Option(help="Rule: flag as many as this share of base pictures missed allows.")
    ] = None,
    hit_rate: Annotated[
        float | None, typer.Option(help="Rule: flag as few as this share of new pictures hit allows.")
    ] = None,
    cost_miss: Annotated[
        float | None, typer.Option(help="Rule: least cost; of a base picture flagged or misnamed.")
    ] = None,
    cost_unhit: Annotated[
        float | None, typer.Option(help="Beside --cost-miss: of a new picture not flagged, or misnamed.")
    ] = None,
    cost_kept: Annotated[float | None, typer.Option(help="Of a base picture kept and named right; 0.")] = None,
    cost_hit: Annotated[float | None, typer.Option(help="Of a new picture flagged and named right; 0.")] = None,
    new_share: Annotated[
        float | None, typer.Option(help="Share of new pictures where it will run; default: as in the run.")
    ] = None,
    learner: Annotated[str, typer.Option(help="Only this learner, as the run calls it.")] = "",
    page: Annotated[Path | None, typer.Option(help="Also write the report page, with the decision in it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON instead.")] = False,
) -> None:
    """Choose the threshold below which a picture is flagged as new, and say what that misses and hits.

    Give one rule. The threshold is chosen on the run's validation pictures and judged on its test pictures:

    ```
    openworld decide runs/demo --miss-rate 0.3  # at most 30 % missed
    openworld decide runs/demo --hit-rate 0.5   # at least half hit
    openworld decide runs/demo --cost-miss 1 --cost-unhit 5 --new-share 0.1
    ```

    A base picture is *missed* when it is flagged or misnamed; a new one is *hit* when it is flagged and named right.
    Rates come with intervals over the test pictures. The last lines are commands: `openworld predict` with the
    threshold, one for each seed, since each seed learned something else. A threshold holds for the names it was chosen
    with: more new names, and baseness falls.
    """
    from dataclasses import replace

    from openworld.cli import console
    from openworld.cli._telling import telling_of
    from openworld.evaluations.recognition.operating_point import OperatingSpec, decided
    from openworld.evaluations.recognition.operating_tables import operating_json
    from openworld.evaluations.recognition.outcome import load
    from openworld.evaluations.recognition.summary import summarise

    costs = {"base_missed": cost_miss, "new_unhit": cost_unhit, "base_kept": cost_kept, "new_hit": cost_hit}
    rule = OperatingSpec(miss_rate=miss_rate, hit_rate=hit_rate, new_share=new_share, **costs)
    found = load(run)
    found = replace(found, outcomes=decided(_of(found.outcomes, learner, run), rule))
    tables = summarise(found.outcomes).tables
    if page is not None:
        telling_of(run).build(run, output=page, run=found)
    if as_json:
        console.write(operating_json(tables))
        return
    out = console.output()
    for table in tables:
        if len(tables) > 1:
            out.print(f"\n{table.title}", style="bold", markup=False)
        _say(table, found.records, run, out)
    if page is not None:
        out.print(f"Report: {page}", markup=False)


def _of(outcomes, learner: str, run: Path):
    """The outcomes of one learner, or all of them."""
    from openworld._errors import unknown_name

    names = dict.fromkeys(one.metrics["learner"] for one in outcomes)
    if learner and learner not in names:
        raise unknown_name(f"learner of {run}:", learner, names)
    return [one for one in outcomes if learner in ("", one.metrics["learner"])]


def _say(table, records, run: Path, out) -> None:
    """The table; then, of the learner that validation pictures prefer, the sentence and the commands."""
    from openworld.cli._tell_recognition import say_operating
    from openworld.evaluations.recognition.operating_summary import all_run_at, preferred

    say_operating(table, out)
    found = all_run_at(table)
    best = preferred(found)
    if best is None:
        return
    if len(found) > 1:
        out.print(f"({best.learner} is best by what the validation pictures say; --learner chooses another.)")
    for line in _commands(best, table.setting, records, run):
        out.print(f"  {line}", markup=False)


def _commands(best, setting, records, run: Path) -> list[str]:
    """What to type next, one line a seed; nothing where nobody fitted the learner, or it was not kept."""
    import shlex

    told = ("learner", "seed", "shots", "task", "test_domain")
    kept = [one for one in records if "learner/learner.json" in one.attachments]
    units = {tuple(one.metrics.get(name) for name in told): one.name for one in kept}
    lines = []
    for seed, point in zip(best.seeds, best.points, strict=True):
        unit = units.get((best.learner, seed, setting.shots, setting.task, setting.test_domain))
        if unit and point["baseness"] is not None:
            asked = ["openworld", "predict", str(run), "PICTURES", "--unit", unit, "--run-names"]
            lines.append(shlex.join([*asked, "--threshold", f"{point['baseness']!r}"]))
    return lines
