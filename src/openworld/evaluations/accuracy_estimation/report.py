"""What a run of accuracy estimation says: errors and tests, figures, calibration, ablations, costs, and the images."""

from collections.abc import Iterator

from openworld.evaluations.accuracy_estimation import reference_tables as on_references
from openworld.evaluations.accuracy_estimation import tables
from openworld.evaluations.accuracy_estimation.example_images import albums
from openworld.evaluations.accuracy_estimation.figures import error_time, estimated_and_true, severity
from openworld.evaluations.accuracy_estimation.measurements import Measurements
from openworld.evaluations.accuracy_estimation.reference_figures import (
    alignment_gap,
    examples_figure,
    temperatures_figure,
)
from openworld.evaluations.accuracy_estimation.results import read_results
from openworld.evaluations.accuracy_estimation.verdict import verdict
from openworld.report.page import Page, Section
from openworld.report.report import Report
from openworld.report.sentences import counted
from openworld.report.series_style import series_styles
from openworld.results import Results, RunFolder


def story(run: RunFolder) -> Report:
    """Return the story of a run."""
    results, measured = read_results(run)
    styles = series_styles(measured.labels, [measured.baseline])
    sentences, chapters = verdict(results, measured), tuple(_chapters(run, results, measured))
    overview = tables.overview_table(results, measured)
    paper = (tables.paper_table(results, measured),) if len(measured.labels) > 1 else ()
    others = (tables.bias_table, tables.shift_table, tables.model_table)
    folded = [Section(table.title, tables=(table,)) for table in paper]
    folded.append(Section("Every other number", tables=tuple(make(results, measured) for make in others)))
    figures = (
        estimated_and_true(results, measured),
        severity(results, measured, styles),
        error_time(results, measured, styles),
    )
    images = albums(run, measured)
    page = Page(
        title="How accurate, without labels?",
        subtitle=tuple(_subtitle(measured)),
        verdict=sentences,
        sections=(
            Section("The numbers", tables=(overview,), folded=tuple(folded)),
            *(Section(figure.title, figures=(figure,)) for figure in figures if figure is not None),
            *chapters,
            *([Section("The images", albums=images)] if images else ()),
        ),
        styles=styles,
        series="Methods",
        facts=(*_facts(measured), *_corrupted_files(run)),
    )
    papers = (overview, *paper, *(table for chapter in chapters for table in chapter.tables))
    return Report(results, (overview,), page, (), papers=papers, run_folder=run)


def _chapters(run: RunFolder, results: Results, measured: Measurements) -> Iterator[Section]:
    """Sections of what a run has records of."""
    gap = alignment_gap(measured)
    confidence = tuple(filter(None, (temperatures_figure(results, measured), examples_figure(run, measured))))
    parts = (
        (
            "Is their confidence right?",
            on_references.calibration_sentences,
            on_references.calibration_table,
            confidence,
        ),
        ("What is the threshold good for?", on_references.threshold_sentences, on_references.threshold_table, ()),
        ("Which reference, and used how?", None, on_references.use_table, ()),
        (
            "Near in meaning",
            on_references.alignment_sentences,
            on_references.alignment_table,
            () if gap is None else (gap,),
        ),
        ("What the methods cost", None, tables.time_table, ()),
    )
    for heading, sentences, make, figures in parts:
        text, table = tuple(sentences(results, measured)) if sentences else (), make(results, measured)
        if text or table is not None:
            yield Section(heading, text, () if table is None else (table,), figures)


def _subtitle(measured: Measurements) -> Iterator[str]:
    record = measured.records[0]
    yield counted(len(measured.methods), "method")
    yield counted(len(measured.conditions), "condition")
    yield tables.count_models(measured)
    names = [", ".join(filter(None, (source.dataset, source.domain))) for source in record.sources]
    if len(names) > 1:
        yield f"trained on {len(names)} sources ({'; '.join(names[:3])}{'; …' * (len(names) > 3)})"
    elif names:
        yield f"trained on {names[0]}"
    if record.classes:
        yield f"{record.classes} classes"
    yield f"seed{'s' * (len(measured.seeds) > 1)} {' '.join(map(str, measured.seeds))}"


def _corrupted_files(run: RunFolder) -> Iterator[tuple[str, str]]:
    """Where corrupted images are from, if they were published."""
    spec = run.resolved or {}
    if spec.get("corrupted_files"):
        made = ", ".join(spec.get("made_here", ()))
        yield "corrupted images", f"{spec['corrupted_files']}, as published{f'; made here: {made}' * bool(made)}"


def _facts(measured: Measurements) -> Iterator[tuple[str, str]]:
    """What records say of how the run was made, beside its spec."""
    yield "seeds", " ".join(map(str, measured.seeds))
    yield "records", str(len(measured.records))
    for name, architecture in {record.model: record.architecture for record in measured.records}.items():
        if architecture not in ("", name):
            yield f"model {name}", architecture
    record = measured.records[0]
    for reference in record.reference_models:
        parts = [reference.backbone or reference.classifier or "knows nothing"]
        templates = reference.templates if reference.backbone else ""
        parts += [f"templates: {templates if isinstance(templates, str) else ' '.join(templates)}"] if templates else []
        yield f"reference {reference.name}", ", ".join(parts)
    for name, reason in record.left_out.items():
        yield f"left out: {name}", reason
