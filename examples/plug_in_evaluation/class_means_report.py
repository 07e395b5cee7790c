"""What a run of class means says: a table, a sentence, a page, and all of it as data."""

from class_means import Record

from openworld.report.page import Page, Section
from openworld.report.report import Report
from openworld.report.table import Column, Row, Table
from openworld.results import METRICS, Result, Results, RunFolder, over_seeds

ACCURACY = METRICS["accuracy"]


def story(run: RunFolder) -> Report:
    records = sorted(run.metrics(Record), key=lambda record: (record.shots, record.seed))
    results = Results(
        "class-means", tuple(_result(records, shots) for shots in dict.fromkeys(r.shots for r in records))
    )
    rows = tuple(Row(one.entity, (one.value,)) for one in results)
    caption = f"Percent of {records[0].images:,} test images that the nearest mean names right."
    table = Table("means", "Accuracy by shots", caption, "training images of each class", (Column(ACCURACY),), rows)
    most = rows[-1]
    page = Page(
        title="How many images make a mean?",
        subtitle=(f"{len(rows)} numbers of shots",),
        verdict=(f"Means of {most.label} name {ACCURACY.write(most.cells[0].value)} % of the test images.",),
        sections=(Section("The numbers", tables=(table,)),),
    )
    return Report(results, (table,), page, run_folder=run)


def _result(records: list[Record], shots: int) -> Result:
    own = [record for record in records if record.shots == shots]
    accuracies, seeds = tuple(record.accuracy for record in own), tuple(record.seed for record in own)
    return Result(f"{shots} shots", ACCURACY, over_seeds(accuracies, ACCURACY), {}, seeds, accuracies)
