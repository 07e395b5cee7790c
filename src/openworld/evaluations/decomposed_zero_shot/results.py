"""The results of decomposed zero-shot accuracy: every part of the features, in every row of images.

Whole features are the same whatever splits them, and have no seeds. A number of several image sets is their mean.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from openworld.evaluations.decomposed_zero_shot.record import PARTS, DecomposedRecord, Share
from openworld.results import METRICS, Metric, Result, Results, RunFolder, Value, interval_of, over_seeds

ANY = "any"
"""The entity of whole features."""

RANKS = ("top1", "top5")
FEW_CLASSES = "there are fewer than five classes"


@dataclass(frozen=True)
class Facts:
    """What the records of a run have in common: methods and seeds in order, rows of images, classes, backbone."""

    methods: tuple[str, ...]
    seeds: tuple[int, ...]
    rows: tuple[str, ...]
    classes: int
    backbone: str


def read_results(run: RunFolder) -> tuple[Results, Facts]:
    """Every number of a run, and what its records have in common."""
    records = sorted(run.metrics(DecomposedRecord), key=lambda record: record.seed)
    labels = [method["label"] for method in (run.resolved or {}).get("methods", ())]
    order = {label: place for place, label in enumerate(labels)}
    methods = sorted(dict.fromkeys(record.method for record in records), key=lambda name: order.get(name, len(order)))
    rows = tuple(dict.fromkeys(one.row for one in records[0].sets))
    seeds = tuple(sorted({record.seed for record in records}))
    facts = Facts(tuple(methods), seeds, rows, records[0].classes, records[0].backbone)
    by_method = {name: [record for record in records if record.method == name] for name in methods}
    found = [*_part("whole", ANY, by_method[methods[0]][:1], rows)]
    for part in list(PARTS)[1:]:
        for name, own in by_method.items():
            found += _part(part, name, own, rows)
    return Results("decomposed-zero-shot", tuple(found)), facts


def _part(part: str, entity: str, records: Sequence[DecomposedRecord], rows: Sequence[str]) -> Iterator[Result]:
    for row in rows:
        for rank in RANKS:
            shares = [[getattr(one.parts[part], rank) for one in record.sets if one.row == row] for record in records]
            per_seed = tuple(None if None in own else fmean(share.value for share in own) for own in shares)
            seeds = tuple(record.seed for record in records) if part != "whole" else ()
            value = _value(per_seed, shares, METRICS[rank])
            where = {"part": PARTS[part], "images": row}
            yield Result(entity, METRICS[rank], value, where, seeds, per_seed if seeds else ())


def _value(per_seed: Sequence[float | None], shares: Sequence[Sequence[Share | None]], metric: Metric) -> Value:
    """The mean over seeds; of one seed and one image set with the interval over its images.

    Several sets show the same images, so that nothing simple can be said of their mean.
    """
    alone = shares[0][0] if len(shares) == len(shares[0]) == 1 else None
    intervals = interval_of(alone.interval, "images", alone.n) if alone else ()
    return over_seeds(per_seed, metric, intervals=intervals, reason=FEW_CLASSES)
