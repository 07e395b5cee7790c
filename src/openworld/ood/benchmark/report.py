"""What a comparison of detectors on named sets shows: numbers, tests, and the images where each detector fails.

It is of a run with several models, or of scores alone. Of one seed a number has its interval over images. Of several
it is their mean; the ends of the intervals over images are averaged, and there is one over seeds. Tests are over images
where there is one seed, else over seeds.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.datasets.formats.decoding import decode
from openworld.metrics import seeds_test
from openworld.ood.detection_results import ModelRun, detection_tests, tests_of_best
from openworld.ood.scored_sets import (
    FULL,
    OTHER_CLASSES,
    SAME_CLASSES,
    SCORE_COLUMN,
    ScoredSets,
    SetScores,
    sets_of_rows,
    stream_column,
)
from openworld.report.album import Album, AlbumImage
from openworld.report.data_files import thumbnail_address
from openworld.report.layout import ENTITY, METRIC, Brief, Layout, Mark, Own, Pivot, Tests
from openworld.report.layout.parts import words_of
from openworld.report.report import Report
from openworld.report.sentences import counted, listed
from openworld.results import METRICS, Comparison, Result, Results, RunFolder, Value, comparison_of, join_seeds
from openworld.results.join import mean_ends
from openworld.runs import Record

RATES = ("fpr_in_positive", "fpr_out_positive", "aupr_in", "aupr_out")
SHOWN = 4  # detectors whose failures are shown
OF_RATES = (
    "In positive: the share of images out of distribution that pass when 95 % of in-distribution ones do (MCM and most "
    "papers); out positive: the share of in-distribution images that are flagged when 95 % of the others are (OpenOOD "
    "v1.5). AUPR depends on how many images either side has."
)
OF_SHIFT = "Shift seen: AUROC against images of the same classes in another appearance; these count as neither side."
OF_ORDER = Mark(
    "*",
    "depends on the order, since the detector remembers the images that it scores; test images and the images of one "
    "set make one stream, in a drawn order, and intervals and tests do not know what another order would give",
)


def _failures(brief: Brief) -> Iterator[Album]:
    """Yield the images of each set that a detector takes for the most in-distribution, and the test images least so."""
    sets = brief.source
    about = "Images that the detector is most wrong about; in brackets the share of test images that score lower."
    for name in [name for name in brief.results.entities if name in sets.detectors][:SHOWN]:
        inside = np.sort(sets.test.scores[name])
        parts = []
        for each in (*sets.of(*OTHER_CLASSES), sets.test):
            if each is not sets.test:
                inside = np.sort(each.inside.get(name, sets.test.scores[name]))
            places = each.worst(name)
            lower = np.searchsorted(inside, each.scores[name][places]) / len(inside)
            images = (
                AlbumImage(_address(each, place), str(each.images[place]), f"{100 * share:.0f} %")
                for place, share in zip(places.tolist(), lower.tolist(), strict=True)
            )
            heading = f"{each.name} ({each.group}): most in-distribution"
            parts.append(("Test images: least so" if each is sets.test else heading, tuple(images)))
        yield Album(name, about, tuple(parts))


def _address(images: SetScores, place: int) -> str | None:
    """A thumbnail; None where there is no image to be read: scores alone are no images."""
    path = Path(str(images.images[place]))
    if images.read is None and not path.is_file():
        return None
    from openworld.datasets.formats.folder import read_image

    try:
        return thumbnail_address(read_image(path) if images.read is None else images.read(place))
    except OpenworldError:
        return None


NUMBERS, CHOSEN, BY_SET = "The numbers", "Which settings were chosen?", "By set"
OF_CHOICE = "The largest of several, so it promises a little too much; of ties, the first is taken."
SPECTRUM, SET = ("in_distribution",), ("group", "set")
AUROC, SHIFT, WORTH, COUNT = ("auroc",), ("shift_seen",), ("validation_auroc",), ("images",)
TRIED: Any = {"rows": (ENTITY, "settings"), "per": ("seed",)}
FOLDED: Any = {"folded": True}
LAYOUT = Layout(
    "Which detector sees what is out of distribution?",
    "auroc",
    (
        Pivot(name="groups", title=NUMBERS, metrics=("auroc", "fpr_in_positive", "shift_seen"),
              columns=("group", METRIC), per=SPECTRUM, note="Means over the sets of a group."),
        Pivot(name="thresholds", title="Flagged by a threshold", metrics=("threshold", "flagged"),
              columns=(*SET, METRIC), terminal=True),
        Pivot(name="settings", title=CHOSEN, metrics=WORTH, of={"chosen": "yes"}, note=OF_CHOICE, terminal=True,
              **TRIED),
        Pivot(name="settings-not-chosen", title=CHOSEN, metrics=WORTH, of={"chosen": "no"}, **TRIED, **FOLDED),
        Pivot(name="sets", title=BY_SET, metrics=AUROC, columns=SET, per=SPECTRUM, terminal=True),
        Pivot(name="shift-by-set", title=BY_SET, metrics=SHIFT, columns=SET),
        Pivot(name="rates", title="Rates and AUPR", metrics=RATES, per=(*SPECTRUM, *SET), note=OF_RATES, **FOLDED),
        Pivot(name="models", title="How well is what is known named?", metrics=("accuracy",), label="model"),
        Tests(name="tests", title="Is the best one better?", metrics=AUROC),
        Pivot(name="images", title="How many images?", metrics=COUNT, rows=SET, per=SPECTRUM, **FOLDED),
        Pivot(name="sides", title="How many on either side?", metrics=COUNT, rows=("side",), per=("group",), **FOLDED),
        Own(name="failures", title="Where does each fail?", draw=_failures),
    ),
    ("group",),
)  # fmt: skip


def detection_brief(sets: ScoredSets, results: Results, **fields) -> Brief:
    """Return what a comparison says: detectors by rank, marked where scores depend on the order of the images."""
    order = {name: place for place, name in enumerate(ranked(sets, results))}
    rows = sorted((*results, *_image_counts(sets)), key=lambda row: order.get(row.entity, -1))
    sides = [counted(len(sets.test), "in-distribution image")]
    sides += [f"{each.name} ({each.group}): {counted(len(each), 'image')}" for each in sets.others]
    sentences = [OF_SHIFT] if sets.of(*SAME_CLASSES) else []
    if not sets.of(*OTHER_CLASSES):
        sentences = ["There is no set of other classes, so that no detector can be called the best.", *sentences]
    if sets.spectrum:
        names = listed([each.name for each in sets.of(FULL)])
        sentences += [f"Full spectrum: images of {names} count as in-distribution there, and nowhere else."]
    return Brief(
        replace(results, rows=tuple(rows)),
        label="detector",
        subtitle=tuple(sides),
        marks=dict.fromkeys(sets.sequential, OF_ORDER),
        sentences=tuple(sentences),
        words={"settings": {"settings tried": _counts_of_settings(results)}},
        warnings=tuple(f"Note: {warning}" for warning in sets.warnings),
        source=sets,
        **fields,
    )


def _image_counts(sets: ScoredSets) -> Iterator[Result]:
    if sets.of(*OTHER_CLASSES):
        yield Result("", METRICS["images"], Value(len(sets.test)), {"side": "in-distribution"})
    for group in OTHER_CLASSES:
        if each := sets.of(group):
            count = Value(sum(map(len, each)))
            yield Result("", METRICS["images"], count, {"group": group, "side": "out-of-distribution"})


def _counts_of_settings(results: Results) -> dict[str, str]:
    """How many settings were tried, by row of the table of those that were chosen."""
    tried = results.where(metric="validation_auroc")
    chosen = [row for row in tried if row.where["chosen"] == "yes"]
    return {
        ", ".join(words_of(row, (ENTITY, "settings"))): str(
            sum((each.entity, each.where.get("seed")) == (row.entity, row.where.get("seed")) for each in tried)
        )
        for row in chosen
    }


def ranked(sets: ScoredSets, results: Results) -> Sequence[str]:
    """Return the detectors, the largest mean AUROC over near and far (each group counting the same) first."""
    groups = [group for group in OTHER_CLASSES if sets.of(group)]
    if not groups:
        return sets.detectors

    def mean(name: str) -> float:
        return float(np.mean([results.value(name, "auroc", group=group).value for group in groups]))

    return sorted(sets.detectors, key=mean, reverse=True)


def report(run: RunFolder) -> Report:
    units = units_of(run)
    results, sets = results_of(units)
    facts = [("seeds", " ".join(map(str, sorted({unit.facts["seed"] for unit in units.units}))))]
    for unit in units.units:
        images = counted(unit.facts["training_images"], "training image")
        facts.append((f"{unit.model}, seed {unit.facts['seed']}", f"{unit.facts['classes']} classes, {images}"))
    return LAYOUT.report(detection_brief(sets, results, facts=(*facts, *units.provenance()), run=run))


def results_of(run: ModelRun) -> tuple[Results, ScoredSets]:
    """Return every number of a run and the tests, and the scores of all models, of the first seed of each."""
    units, sets = run.titled_rows(), _sets(run)
    rows = join_seeds(units, mean_ends(row for unit in units for row in unit))
    alone = len({unit.facts["seed"] for unit in run.units}) == 1
    return Results("ood-benchmark", rows, detection_tests(sets) if alone else tuple(_seed_tests(rows))), sets


def units_of(run: RunFolder) -> ModelRun:
    if wrong := next((record for record in run.records if record.metrics.get("protocol") != "ood-benchmark"), None):
        raise OpenworldError(f"record {wrong.name!r} of {run.folder} is of another kind; give a run of ood-benchmark.")
    return ModelRun.read(run)


def _sets(run: ModelRun) -> ScoredSets:
    """The scores of all models, of the first seed of each."""
    tables = {model: units[0].record.table("images") for model, units in run.models.items()}
    common = next(iter(tables.values()))
    names, scores, streams = common["set"].astype(str).tolist(), {}, {}
    for model, table in tables.items():
        if len(table["set"]) != len(names) or (table["image"] != common["image"]).any():
            raise OpenworldError("the models of this run could read different images; report them apart.")
        for label in [column.removeprefix(SCORE_COLUMN) for column in table if column.startswith(SCORE_COLUMN)]:
            title = run.title(model, label)
            scores[title] = np.asarray(table[SCORE_COLUMN + label])
            for name in dict.fromkeys(names):
                if (column := stream_column(label, name)) in table:
                    streams[stream_column(title, name)] = np.asarray(table[column])
    records = [unit.record for unit in run.units]
    return sets_of_rows(
        zip(common["group"].astype(str).tolist(), names, strict=True),
        common["image"],
        common["cluster"].astype(str),
        scores,
        streams,
        read=lambda number: _reader(records, number),
        warnings=tuple(dict.fromkeys(text for unit in run.units for text in unit.facts["warnings"])),
    )


def _reader(records: Sequence[Record], number: int) -> Callable[[int], Any]:
    def read(place: int):
        name = f"images/{number}/{place}.png"
        for record in records:
            if name in record.attachments:
                return decode(io.BytesIO(record.attachment(name)), name)
        raise OpenworldError(f"no image of {name} is kept.")

    return read


def _seed_tests(rows: Sequence[Result]) -> Iterator[Comparison]:
    """Yield the best detector of every place against the others over seeds; what has one seed is the same in each."""
    places: dict[tuple, list[Result]] = {}
    for row in rows:
        if row.metric.key == "auroc" and row.where["group"] in OTHER_CLASSES and row.value.value is not None:
            places.setdefault(tuple(row.where.items()), []).append(row)
    for where, found in places.items():
        count = max(len(row.seeds) for row in found)
        each = {
            row.entity: list(row.per_seed) if len(row.per_seed) == count else [row.value.value] * count for row in found
        }

        def test(best: str, other: str, each=each, where=where) -> Comparison:
            paired = seeds_test(each[best], each[other])
            return comparison_of(best, other, METRICS["auroc"], paired, over="seeds", where=dict(where))

        yield from tests_of_best({row.entity: row.value.value for row in found}, test)
