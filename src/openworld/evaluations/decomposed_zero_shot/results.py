"""The results of decomposed zero-shot accuracy: every part of the features, in every row of images.

Whole features are the same whatever splits them, and have no seeds. A number of several image sets is their mean.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from openworld.evaluations.decomposed_zero_shot.record import PARTS, DecomposedRecord
from openworld.results import METRICS, Result, Results, RunFolder, Value, interval_of, over_seeds

ANY = "any"
"""The entity of whole features."""

RANKS = ("top1", "top5")
FEW_CLASSES = "there are fewer than five classes"


@dataclass(frozen=True)
class Facts:
    """What the records of a run have in common: methods and seeds in order, rows of images, classes, backbone.

    Args:
        images: of the first row.
    """

    methods: tuple[str, ...]
    seeds: tuple[int, ...]
    rows: tuple[str, ...]
    classes: int
    backbone: str
    images: int


def read_results(run: RunFolder) -> tuple[Results, Facts]:
    """Return every number of a run, and what its records have in common."""
    records = sorted(run.metrics(DecomposedRecord), key=lambda record: record.seed)
    first = records[0]
    labels = [method["label"] for method in (run.resolved or {}).get("methods", ())]
    order = {label: place for place, label in enumerate(labels)}
    methods = sorted(dict.fromkeys(record.method for record in records), key=lambda name: order.get(name, len(order)))
    rows = tuple(dict.fromkeys(image_set.row for image_set in first.sets))
    seeds = tuple(sorted({record.seed for record in records}))
    by_method = {name: [record for record in records if record.method == name] for name in methods}
    whole, *halves = PARTS
    results = [*_part(whole, ANY, by_method[methods[0]][:1], rows)]
    for part in halves:
        for name, of_method in by_method.items():
            results += _part(part, name, of_method, rows)
    images = sum(image_set.parts[whole].top1.n for image_set in first.sets if image_set.row == rows[0])
    facts = Facts(tuple(methods), seeds, rows, first.classes, first.backbone, images)
    results.append(Result("", METRICS["images"], Value(images)))
    return Results("decomposed-zero-shot", tuple(results)), facts


def _part(part: str, entity: str, records: Sequence[DecomposedRecord], rows: Sequence[str]) -> Iterator[Result]:
    """Accuracies of a part of the features.

    Several sets show the same images, so that nothing simple can be said of their mean; of one seed and one set the
    interval over its images is known.
    """
    seeds = () if entity == ANY else tuple(record.seed for record in records)
    for row in rows:
        for rank in RANKS:
            shares = [
                [getattr(image_set.parts[part], rank) for image_set in record.sets if image_set.row == row]
                for record in records
            ]
            means = tuple(None if None in by_set else fmean(share.value for share in by_set) for by_set in shares)
            alone = shares[0][0] if len(shares) == len(shares[0]) == 1 else None
            intervals = interval_of(alone.interval, "images", alone.n) if alone else ()
            value = over_seeds(means, METRICS[rank], intervals=intervals, reason=FEW_CLASSES)
            yield Result(
                entity, METRICS[rank], value, {"part": PARTS[part], "images": row}, seeds, means if seeds else ()
            )
