"""`openworld decide RUN`: from a finished run to the threshold to run it with."""

from pathlib import Path
from typing import Annotated

import typer


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
    cost_hit: Annotated[float | None, typer.Option(help="Of a new picture flagged and named right; 0.")] = None,
    new_share: Annotated[
        float | None, typer.Option(help="Share of new images where it will run; default: as in the run.")
    ] = None,
    learner: Annotated[str, typer.Option(help="Only this learner, as the run calls it.")] = "",
    page: Annotated[Path | None, typer.Option(help="Also write the report page, with the decision in it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON instead.")] = False,
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
    from openworld.cli import console
    from openworld.evaluations.recognition.operating_point import OperatingSpec, with_operating_points
    from openworld.evaluations.recognition.outcome import outcomes
    from openworld.evaluations.recognition.report import decision_results, story_of
    from openworld.evaluations.recognition.results import join
    from openworld.results import RunFolder

    costs = {"base_missed": cost_miss, "new_unhit": cost_unhit, "base_kept": cost_kept, "new_hit": cost_hit}
    rule = OperatingSpec(miss_rate=miss_rate, hit_rate=hit_rate, new_share=new_share, **costs)
    folder = RunFolder.read(run)
    results = join(with_operating_points(_of_learner(outcomes(folder), learner, run), rule))
    if page is not None:
        story_of(folder, results).write(page)
    if as_json:
        console.write(decision_results(results).to_json())
        return
    out = console.output()
    _show(results, folder, out)
    if page is not None:
        out.print(f"Report: {page}", markup=False)


def _of_learner(outcomes, learner: str, run: Path) -> list:
    """The outcomes of one learner, or all of them."""
    from openworld._errors import unknown_name

    names = dict.fromkeys(outcome.record.learner for outcome in outcomes)
    if learner and learner not in names:
        raise unknown_name(f"learner of {run}:", learner, names)
    return [outcome for outcome in outcomes if learner in ("", outcome.record.learner)]


def _show(results, folder, out) -> None:
    """Of every setting the table; then, of the learner that validation images prefer, the sentence and the commands."""
    from openworld.evaluations.recognition.report import decisions
    from openworld.report.render import terminal_table

    for decision in decisions(results):
        out.print()
        out.print(terminal_table(decision.table))
        out.print(decision.text, markup=False)
        if decision.preferred is None:
            continue
        if len(decision.table.rows) > 1:
            best = decision.preferred.learner
            out.print(f"({best} is best by what the validation images say; --learner chooses another.)")
        for line in _commands(decision, folder):
            out.print(f"  {line}", markup=False)


def _commands(decision, folder) -> list[str]:
    """What to type next, one line a seed; nothing where the learner was not fitted here, or was not kept."""
    import shlex

    facts = ("learner", "seed", "shots", "task", "test_domain")
    kept = [record for record in folder.records if "learner/learner.json" in record.attachments]
    units = {tuple(record.metrics.get(name) for name in facts): record.name for record in kept}
    best, setting, lines = decision.preferred, decision.setting.key, []
    for seed, baseness in best.baseness.items():
        unit = units.get((best.learner, seed, setting.shots, setting.task, setting.test_domain))
        if unit and baseness is not None:
            words = ["openworld", "predict", str(folder.folder), "PICTURES", "--unit", unit, "--run-names"]
            lines.append(shlex.join([*words, "--threshold", f"{baseness!r}"]))
    return lines
