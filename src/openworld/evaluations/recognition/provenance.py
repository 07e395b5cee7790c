"""How a run of recognition was made, ready for the page."""

from collections.abc import Iterator

from openworld.evaluations.recognition.outcome import RunFolder
from openworld.evaluations.recognition.summary import Summary
from openworld.report.provenance import Part, has_own_fit, parts_of, spent


def made(run: RunFolder, summary: Summary) -> list[Part]:
    """The parts in reading order; parts that the run says nothing about are left out."""
    return parts_of(run.given, run.resolved, run.provenance, tuple(_durations(run, summary)))


def _durations(run: RunFolder, summary: Summary) -> Iterator[tuple[str, str]]:
    seeds = sorted({outcome.metrics["seed"] for outcome in run.outcomes})
    yield "seeds", " ".join(map(str, seeds))
    yield "records", str(sum(map(has_own_fit, run.outcomes)))
    for learner in summary.learners:
        told = spent([outcome for outcome in run.outcomes if outcome.metrics["learner"] == learner])
        if told:
            yield learner, told
