"""What a run of class means shows: accuracy by shots."""

from openworld.evaluations.rows import rows_of_run
from openworld.report.layout import Brief, Layout, Pivot
from openworld.report.report import Report
from openworld.results import Results, RunFolder, join_seeds

LAYOUT = Layout(
    "How many images make a mean?",
    "accuracy",
    (
        Pivot(
            name="means",
            title="Accuracy by shots",
            metrics=("accuracy",),
            note="Test images that the nearest mean names right.",
        ),
    ),
)


def report(run: RunFolder) -> Report:
    results = Results("class-means", join_seeds(rows_of_run(run)))
    return LAYOUT.report(Brief(results, label="mean", run=run))
