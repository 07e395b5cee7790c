"""What a run of decomposed zero-shot accuracy shows: every part of the features, in every row of images.

Whole features are the same whatever splits them, and have no seeds. A number of several image sets is their mean.
"""

from openworld.evaluations.rows import rows_of_run
from openworld.report.layout import ENTITY, METRIC, Brief, Layout, Pivot
from openworld.report.report import Report
from openworld.results import METRICS, Results, RunFolder, join_seeds

PARTS = {"whole": "whole feature", "semantic": "semantic half", "covariate": "covariate half"}
"""A part of the features -> what tables call it."""

ANY = "any"  # the entity of whole features

RANKS = ("top1", "top5")
FEW_CLASSES = "there are fewer than five classes"

LAYOUT = Layout(
    "What do the halves of a feature know?",
    "",
    (
        Pivot(
            "decomposed",
            "Zero-shot accuracy with whole features and with halves",
            RANKS,
            rows=("part", ENTITY),
            columns=("images", METRIC),
            note="By the nearest class text. Of several image sets under one name the mean.",
        ),
        Pivot("sets", "Every image set", RANKS, rows=("part", ENTITY, "set"), per=("images",), folded=True),
        Pivot("images", "What it rests on", ("images", "classes"), folded=True),
    ),
)


def read_results(run: RunFolder) -> Results:
    return Results("decomposed-zero-shot", join_seeds(rows_of_run(run)))


def report(run: RunFolder) -> Report:
    results = read_results(run)
    seeds = " ".join(map(str, sorted({seed for row in results for seed in row.seeds})))
    methods = [name for name in results.entities if name not in ("", ANY)]
    images, write = results.places("images"), METRICS["top1"].write

    def named(method: str, part: str) -> str:
        return write(results.value(method, "top1", part=PARTS[part], images=images[0]).value)

    halves = (
        f"{method} on {images[0]}: the semantic half names {named(method, 'semantic')} % and the covariate half "
        f"{named(method, 'covariate')} %, where whole features name {named(ANY, 'whole')} %."
        for method in methods
    )
    classes = results.value("", "classes").value
    brief = Brief(
        results,
        label="method",
        subtitle=(" + ".join(map(str, images)), f"seeds {seeds}", run.records[0].metrics["backbone"]),
        facts=(("seeds", seeds),),
        sentences=(*halves, *([f"Of {classes:,} classes chance is {write(1 / classes)} %."] if classes else [])),
        run=run,
    )
    return LAYOUT.report(brief)
