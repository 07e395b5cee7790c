"""The tables of a run of generalisation as text: those of recognition, and the means over the targets of a kind."""

from openworld.evaluations.generalisation.target_means import Reach, reaches
from openworld.evaluations.recognition import exports
from openworld.evaluations.recognition.exports import learners_and_tests
from openworld.evaluations.recognition.summary import Summary


def export(summary: Summary, form: str) -> str:
    """All tables as text, as `recognition.exports.export`, means over several targets last."""
    reached = reaches(summary)
    means = [reach.mean for reach in reached if len(reach.targets) > 1]
    return exports.export(summary, form, means, {"means": list(map(_as_json, reached))} if reached else {})


def _as_json(reach: Reach) -> dict:
    targets = [table.title for table in reach.targets]
    return {"kind": reach.kind, "targets": targets} | learners_and_tests(reach.mean)
