"""What a run of an OOD benchmark shows: its numbers, and the images where each detector fails most."""

from collections.abc import Iterator

from openworld.evaluations.ood_benchmark.results import BenchmarkFacts, read_results
from openworld.report.detection import LAYOUT, detection_brief
from openworld.report.report import Report
from openworld.report.sentences import counted
from openworld.results import RunFolder


def report(run: RunFolder) -> Report:
    """Return the report of a run."""
    results, facts = read_results(run)
    return LAYOUT.report(detection_brief(facts.sets, results, facts=tuple(_facts(facts)), run=run))


def _facts(facts: BenchmarkFacts) -> Iterator[tuple[str, str]]:
    yield "seeds", " ".join(map(str, facts.seeds))
    for record in facts.records:
        name = f"{record.model}, seed {record.seed}"
        known = f"{record.classes} classes, {counted(record.training_images, 'training image')}"
        yield name, known
        if record.learner:
            training, settings = record.learner.sentences()
            yield f"training, {name}", training
            yield f"settings, {name}", settings
        for warning in record.warnings:
            yield f"warning, {name}", warning
