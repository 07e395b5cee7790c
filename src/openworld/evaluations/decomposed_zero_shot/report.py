"""What a run of decomposed zero-shot accuracy shows."""

from openworld.evaluations.decomposed_zero_shot.record import PARTS
from openworld.evaluations.decomposed_zero_shot.results import ANY, read_results
from openworld.report.layout import ENTITY, METRIC, Brief, Layout, Pivot
from openworld.report.report import Report
from openworld.results import METRICS, RunFolder

LAYOUT = Layout(
    "What do the halves of a feature know?",
    "",
    (
        Pivot(
            name="decomposed",
            title="Zero-shot accuracy with whole features and with halves",
            metrics=("top1", "top5"),
            rows=("part", ENTITY),
            columns=("images", METRIC),
            note="By the nearest class text. Of several image sets under one name the mean.",
        ),
        Pivot(name="images", title="What it rests on", metrics=("images",), folded=True),
    ),
)


def report(run: RunFolder) -> Report:
    """Return the report of a run."""
    results, facts = read_results(run)
    seeds = " ".join(map(str, facts.seeds))
    write = METRICS["top1"].write

    def named(method: str, part: str) -> str:
        return write(results.value(method, "top1", part=PARTS[part], images=facts.rows[0]).value)

    halves = (
        f"{method} on {facts.rows[0]}: the semantic half names {named(method, 'semantic')} % and the covariate half "
        f"{named(method, 'covariate')} %, where whole features name {named(ANY, 'whole')} %."
        for method in facts.methods
    )
    brief = Brief(
        results,
        label="method",
        subtitle=(" + ".join(facts.rows), f"seeds {seeds}", facts.backbone),
        facts=(("seeds", seeds),),
        sentences=(*halves, f"Of {facts.classes:,} classes chance is {write(1 / facts.classes)} %."),
        run=run,
    )
    return LAYOUT.report(brief)
