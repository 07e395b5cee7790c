"""What a run of an OOD benchmark says: its tables, and the page with the images where each detector fails most."""

from collections.abc import Iterator

from openworld.evaluations.ood_benchmark.results import BenchmarkFacts, read_results
from openworld.report.detection import detection_page, main_tables
from openworld.report.sentences import counted
from openworld.report.story import Story
from openworld.results import METRICS, RunFolder


def story(run: RunFolder) -> Story:
    """Return the story of a run."""
    results, facts = read_results(run)
    page = detection_page(facts.sets, results, facts=list(_facts(facts)))
    return Story(run, results, main_tables(facts.sets, results), page)


def _facts(facts: BenchmarkFacts) -> Iterator[tuple[str, str]]:
    yield "seeds", " ".join(map(str, facts.seeds))
    for record in facts.records:
        right = METRICS["accuracy"].write(record.accuracy)
        name = f"{record.model}, seed {record.seed}"
        known = f"{record.classes} classes, {counted(record.training_images, 'training image')}"
        yield name, f"{right} % of the in-distribution test images named right; {known}"
        if record.learner:
            training, settings = record.learner.sentences()
            yield f"training, {name}", training
            yield f"settings, {name}", settings
        for warning in record.warnings:
            yield f"warning, {name}", warning
