"""What a run of an OOD benchmark says: its tables, and the page with the images where each detector fails most."""

from collections.abc import Iterator
from dataclasses import replace

from openworld.evaluations.ood_benchmark.results import BenchmarkFacts, read_results
from openworld.report.detection import detection_page, main_tables
from openworld.report.detector_search import search_section, search_table
from openworld.report.report import Report
from openworld.report.sentences import counted
from openworld.results import METRICS, RunFolder


def story(run: RunFolder) -> Report:
    """Return the story of a run."""
    results, facts = read_results(run)
    searches = [replace(search, detector=f"{search.detector}, seed {record.seed}") if len(facts.seeds) > 1 else search
                for record in facts.records for search in facts.searches(record)]  # fmt: skip
    sections = [search_section(searches)] if searches else []
    page = detection_page(facts.sets, results, sections, facts=list(_facts(facts)))
    tables = (*main_tables(facts.sets, results), *((search_table(searches),) if searches else ()))
    return Report(results, tables, page, run_folder=run)


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
