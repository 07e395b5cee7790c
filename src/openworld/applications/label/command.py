"""From what a person names to a plan in a folder, and from filled worksheets to numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from openworld import __version__
from openworld._errors import failing
from openworld._observer import SILENT, Observer
from openworld.applications.label.kept_plan import KeptPlan, read_plan
from openworld.applications.label.planning import PlanInputs, make_plan
from openworld.applications.label.reading import answers_in, labelled
from openworld.applications.label.report import plan_report, read_report
from openworld.applications.label.results import LabelledStream
from openworld.report.report import Report
from openworld.runs.outputs import LABEL_PLAN, LABELLED, require_folder

JSON = "label.json"


def plan_labels(inputs: PlanInputs, observer: Observer = SILENT) -> Report:
    """Plan which images to label, and write the folder with plan, worksheet and page; `found` is a `Planned`."""
    return plan_report(make_plan(inputs, observer))


def read_labels(
    folder: Path,
    answers: Sequence[Path] = (),
    out: Path | None = None,
    observer: Observer = SILENT,
    made: Mapping[str, str] | None = None,
) -> Report:
    """Read labels of a plan (without `answers` those in its folder); write page, rows and label.json into `out`."""
    beside = out is None or out.resolve() == folder.resolve()
    require_folder("--out", out or folder, own=(LABEL_PLAN, LABELLED) if beside else (LABELLED,))
    observer.progress("reading the plan", 0)
    kept = read_plan(folder)
    given = answers_in(kept, folder, answers)
    stream = LabelledStream(kept, folder, labelled(kept, given), tuple(given.seconds.values()))
    observer.progress("reading the labels", 0)
    with failing():
        report = read_report(stream, {**(made or {}), **_facts(kept, given.files)})
        report = replace(report, files={JSON: report.to_json().encode()})
        report.write(out or folder)
    return report


def _facts(kept: KeptPlan, files: Sequence[str]) -> dict[str, str]:
    draws = [f"{len(plan)} images, {plan.settings.design}, seed {plan.settings.seed}" for plan in kept.plans]
    return {
        "openworld": __version__,
        "plan": ", ".join(batch.mark for batch in kept.batches),
        "drawn": "; ".join(draws),
        "for": kept.plans[0].of.replace("_", " "),
        "answers": ", ".join(files),
    }
