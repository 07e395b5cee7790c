"""What a run of decomposed zero-shot accuracy says: one table, and a sentence per method."""

from openworld.evaluations.decomposed_zero_shot.record import PARTS
from openworld.evaluations.decomposed_zero_shot.results import ANY, RANKS, Facts, read_results
from openworld.report.page import Page, Section
from openworld.report.report import Report
from openworld.report.sentences import counted
from openworld.report.series_style import series_styles
from openworld.report.table import Column, Row, Table, cell_of
from openworld.results import METRICS, TEXT, Results, RunFolder

WHOLE, SEMANTIC, COVARIATE = PARTS.values()


def story(run: RunFolder) -> Report:
    """Return the story of a run."""
    results, facts = read_results(run)
    table, seeds = accuracy_table(results, facts), " ".join(map(str, facts.seeds))
    page = Page(
        title="What do the halves of a feature know?",
        subtitle=(" + ".join(facts.rows), f"seeds {seeds}", facts.backbone),
        verdict=verdict(results, facts),
        sections=(Section("The numbers", tables=(table,)),),
        styles=series_styles(facts.methods),
        series="Methods",
        facts=(("seeds", seeds),),
    )
    return Report(results, (table,), page, run_folder=run)


def accuracy_table(results: Results, facts: Facts) -> Table:
    """Return a row per part and method, two columns per row of images."""
    columns = [(row, METRICS[rank]) for row in facts.rows for rank in RANKS]
    halves = [(part, method) for part in (SEMANTIC, COVARIATE) for method in facts.methods]
    rows = []
    for part, method in [(WHOLE, ANY), *halves]:
        values = (cell_of(results.result(method, metric.key, part=part, images=row)) for row, metric in columns)
        rows.append(Row(method, (part, *values), "" if part == WHOLE else method))
    kinds = dict.fromkeys(interval.over for result in results for interval in result.value.intervals)
    caption = "Zero-shot accuracy by the nearest class text; percent"
    caption += f"; [95 % over {' or '.join(kinds)}]." if kinds else "."
    several = " Of several seeds the mean." if len(facts.seeds) > 1 else ""
    return Table(
        "decomposed",
        "Zero-shot accuracy with whole features and with halves",
        f"{caption}{several} {facts.classes:,} classes.",
        "method",
        (Column(TEXT, "part"), *(Column(metric, f"{row}, {metric.title}") for row, metric in columns)),
        tuple(rows),
        best="",
    )


def verdict(results: Results, facts: Facts) -> tuple[str, ...]:
    """Return a sentence per method, how much of the accuracy on the first images each half has; last, the evidence."""
    row, write = facts.rows[0], METRICS["top1"].write

    def accuracy(method: str, part: str) -> str:
        return write(results.value(method, "top1", part=part, images=row).value)

    methods = (
        f"{method} on {row}: the semantic half names {accuracy(method, SEMANTIC)} % and the covariate half "
        f"{accuracy(method, COVARIATE)} %, where whole features name {accuracy(ANY, WHOLE)} %."
        for method in facts.methods
    )
    return (
        *methods,
        f"This rests on {counted(facts.images, 'image')} of {facts.classes:,} classes (chance "
        f"{write(1 / facts.classes)} %) and on {counted(len(facts.seeds), 'seed')}.",
    )
