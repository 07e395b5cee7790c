"""What a comparison of detectors says: its tables, and the page with the images where each fails most."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from openworld._errors import OpenworldError
from openworld.datasets.formats.folder import read_picture
from openworld.report.album import Album, AlbumImage, AlbumPart
from openworld.report.data_files import thumbnail_address
from openworld.report.page import Page, Section
from openworld.report.sentences import HOLM, below_chance, counted, leads, listed, possessive
from openworld.report.table import Column, Row, Table
from openworld.results import METRICS, TEXT, Comparison, Results, Value, against_chance, find_comparison, standing
from openworld.results.detection_results import SHIFT_SEEN
from openworld.results.scored_sets import FULL, OTHER_CLASSES, SAME_CLASSES, WORST_IMAGES, ScoredSets, SetScores
from openworld.results.standing import CHANCE_NAME

AREA = METRICS["auroc"]
RATES = ("fpr_in_positive", "fpr_out_positive", "aupr_in", "aupr_out")
SHOWN = 4  # detectors whose failures are shown
CAPTION = (
    "Percent, means over the sets of a group, 95 % intervals over images. In positive: the share of images out of "
    "distribution that pass when 95 % of in-distribution ones do (MCM and most papers); out positive: the share of "
    "in-distribution images that are flagged when 95 % of the others are (OpenOOD v1.5)."
)


MARK = " *"
OF_ORDER = (
    "* depends on the order: the detector remembers the images that it scores. Test images and the images of one set "
    "make one stream, in a drawn order; intervals and tests do not know what another order would give."
)


def detection_page(
    sets: ScoredSets, results: Results, sections: Sequence[Section] = (), facts: Sequence[tuple[str, str]] = ()
) -> Page:
    """Return the page of a comparison.

    Args:
        sections: what is shown between the numbers and the tests.
        facts: see `Page`.
    """
    order = ranked(sets, results)
    subtitle = [counted(len(sets.test), "in-distribution image")]
    subtitle += [f"{each.name} ({each.group}): {counted(len(each), 'image')}" for each in sets.others]
    numbers = (group_table(sets, results, order), *_set_tables(sets, results, order))
    caption = (CAPTION, *([OF_ORDER] if sets.sequential else []))
    shown = (Section("The numbers", caption, numbers), *sections, *_tested(sets, results), *_failures(sets, order))
    verdict, title = tuple(_sentences(sets, results, order)), "Which detector sees what is out of distribution?"
    return Page(title, tuple(subtitle), verdict, shown, series="Detectors", facts=tuple(facts))


def main_tables(sets: ScoredSets, results: Results) -> tuple[Table, Table]:
    """Return what a terminal shows: detectors by group, and by set."""
    order = ranked(sets, results)
    return group_table(sets, results, order), set_table(sets, results, order)


def row_title(sets: ScoredSets, name: str) -> str:
    """A detector in a table; marked where its scores depend on the order of the images."""
    return name + MARK if name in sets.sequential else name


def ranked(sets: ScoredSets, results: Results) -> list[str]:
    """Return the detectors, the largest mean AUROC over near and far (each group counting the same) first."""
    groups = [group for group in OTHER_CLASSES if sets.of(group)]
    if not groups:
        return list(sets.detectors)
    means = {
        name: float(np.mean([results.value(name, "auroc", group=group).value for group in groups]))
        for name in sets.detectors
    }
    return sorted(means, key=lambda name: -means[name])


def group_table(sets: ScoredSets, results: Results, order: Sequence[str]) -> Table:
    """Return a row per detector, AUROC and FPR of every group."""
    columns, places = [], []
    for group in sets.groups:
        metrics = [SHIFT_SEEN] if group in SAME_CLASSES else [AREA, METRICS["fpr_in_positive"]]
        columns += [
            Column(metric, group if not place else f"{group}, FPR@95", priority=2 - place)
            for place, metric in enumerate(metrics)
        ]
        places += [(metric.key, {"group": group}) for metric in metrics]
    for group in OTHER_CLASSES if sets.spectrum else ():
        if sets.of(group):
            columns.append(Column(AREA, f"{group}, full spectrum", priority=1))
            places.append((AREA.key, {"group": group, "in_distribution": FULL}))
    rows = tuple(
        Row(row_title(sets, name), tuple(results.value(name, key, **where) for key, where in places)) for name in order
    )
    caption = (
        "AUROC (of covariate and full-spectrum sets: the shift seen) and FPR@95 with in-distribution positive, in "
        "percent [95 % over images]; means over the sets of a group."
    )
    caption += " * depends on the order of the images." if sets.sequential else ""
    return Table("groups", "Detectors by group of sets", caption, "detector", tuple(columns), rows)


def set_table(sets: ScoredSets, results: Results, order: Sequence[str]) -> Table:
    """Return a row per detector, AUROC against every set."""
    metrics = {each.name: SHIFT_SEEN if each.group in SAME_CLASSES else AREA for each in sets.others}
    columns = tuple(Column(metrics[each.name], f"{each.name} ({each.group})") for each in sets.others)
    rows = tuple(
        Row(
            row_title(sets, name),
            tuple(results.value(name, metrics[each.name].key, group=each.group, set=each.name) for each in sets.others),
        )
        for name in order
    )
    caption = "AUROC in percent against every set; of the same classes in another appearance it is the shift seen."
    return Table("sets", "AUROC by set", caption, "detector", columns, rows)


def _set_tables(sets: ScoredSets, results: Results, order: Sequence[str]) -> Iterator[Table]:
    yield set_table(sets, results, order)
    for each in sets.of(*OTHER_CLASSES):
        columns = tuple(Column(METRICS[key]) for key in (AREA.key, *RATES))
        where = {"group": each.group, "set": each.name}
        rows = tuple(
            Row(row_title(sets, name), tuple(results.value(name, column.metric.key, **where) for column in columns))
            for name in order
        )
        share = len(each) / (len(each) + len(sets.test))
        caption = f"AUPR depends on how many images either side has; {100 * share:.0f} % are out of distribution here."
        yield Table(f"set-{each.name}", f"{each.name} ({each.group})", caption, "detector", columns, rows)


def _tested(sets: ScoredSets, results: Results) -> Iterator[Section]:
    """Yield the tests of the best detector against the others, place by place."""
    tests = [test for test in results.comparisons if test.other != CHANCE_NAME]
    if not tests:
        return
    places = list(dict.fromkeys(tuple(test.where.items()) for test in tests))
    tables = tuple(
        _test_table(number, dict(place), [test for test in tests if test.where == dict(place)])
        for number, place in enumerate(places)
    )
    text = "The best detector of each place against the others: AUROC on the same images (DeLong), corrected for "
    text += "all pairs of detectors (Holm), since the best was chosen on these images."
    yield Section("Is the best one better?", (text,), tables[:1], folded=(Section("By set", tables=tables[1:]),))


def _test_table(number: int, where: dict, tests: Sequence[Comparison]) -> Table:
    title = f"{tests[0].entity} against the others, {where.get('set', where['group'] + ' mean')}"
    title += ", full spectrum" if "in_distribution" in where else ""
    difference = replace(AREA, key="difference", title="difference", unit="points", better=0, bounds=(-1.0, 1.0))
    rows = tuple(
        Row(test.other, (Value(test.difference, (test.interval,) if test.interval else ()), test.verdict))
        for test in tests
    )
    columns = (Column(difference), Column(TEXT, "verdict"))
    return Table(f"tests-{number}", title, "Points of AUROC [95 % over images].", "detector", columns, rows, best="")


def _sentences(sets: ScoredSets, results: Results, order: Sequence[str]) -> Iterator[str]:
    groups = [group for group in OTHER_CLASSES if sets.of(group)]
    rows = [results.result(name, AREA.key, group=group) for group in groups for name in order]
    tests = [test for test in results.comparisons if test.other == CHANCE_NAME] or against_chance(rows)
    above = {test.where["group"] for test in tests if test.better}
    if not groups:
        yield f"There is no set of other classes; {len(sets.others)} set(s) tell how much of a shift is seen."
    elif not above:
        largest = max(rows, key=lambda row: row.value.value)
        number = f"{AREA.write(largest.value.value)} {AREA.write_interval(largest.value.over())}".rstrip()
        yield (
            f"No detector is shown to be above chance (AUROC 50; {counted(len(tests), 'test')}, corrected together): "
            f"the largest AUROC is {possessive(largest.entity)}, {number}, {largest.where['group']}."
        )
    for group in groups if above else ():
        if group not in above:
            yield f"{group.capitalize()}: no detector is shown to be above chance (AUROC 50)."
            continue
        here = [test for test in results.comparisons if dict(test.where) == {"group": group}]
        values = {row.entity: row.value for row in rows if row.where["group"] == group}
        found = standing({name: value.value for name, value in values.items()}, partial(find_comparison, here))
        best = values[found.names[0]]
        number = f"{AREA.write(best.value)} {AREA.write_interval(best.over())}".rstrip()
        yield f"{group.capitalize()}: {leads(found, 'AUROC', number, 'detectors')}."
    yield from filter(None, [below_chance(tests, "in-distribution")])
    if sets.of("covariate"):
        yield (
            "Covariate sets show the same classes in another appearance: their number says how much of that shift a "
            "detector sees, and they count as neither side elsewhere."
        )
    if sets.spectrum:
        yield (
            f"Full spectrum: images of {listed([each.name for each in sets.of(FULL)])} count as in-distribution in the "
            "columns of that name (OpenOOD v1.5), and in no other."
        )
    yield from (f"Note: {warning}" for warning in sets.warnings)
    images = counted(sum(map(len, sets.others)), "other image")
    rests = f"This rests on {counted(len(sets.test), 'in-distribution image')} and {images}"
    pairs = f"; the tests between detectors are corrected for all pairs of a group ({HOLM})"
    yield f"{rests}{pairs if len(order) > 1 and groups else ''}."


def _failures(sets: ScoredSets, order: Sequence[str]) -> Iterator[Section]:
    """Yield the images of each set that a detector takes for the most in-distribution, and the test images least so."""
    albums = tuple(
        Album(
            name,
            "Images that the detector is most wrong about; in brackets the share of in-distribution test images that "
            "score lower.",
            (
                *(
                    AlbumPart(f"{each.name} ({each.group}): most in-distribution", _worst(sets, each, name, -1))
                    for each in sets.of(*OTHER_CLASSES)
                ),
                AlbumPart("In-distribution test images: least so", _worst(sets, sets.test, name, 1)),
            ),
        )
        for name in order[:SHOWN]
    )
    text = f"Of the {counted(len(albums), 'detector')} with the largest mean AUROC over near and far."
    yield Section("Where each fails", (text,), albums=albums)


def _worst(sets: ScoredSets, images: SetScores, name: str, sign: int) -> tuple[AlbumImage, ...]:
    inside = np.sort(images.inside.get(name, sets.test.scores[name]))
    places = np.argsort(sign * images.scores[name], kind="stable")[:WORST_IMAGES]
    below = np.searchsorted(inside, images.scores[name][places]) / len(inside)
    return tuple(
        AlbumImage(_address(images, place), str(images.images[place]), f"{100 * share:.0f} %")
        for place, share in zip(places.tolist(), below.tolist(), strict=True)
    )


def _address(images: SetScores, place: int) -> str | None:
    """A thumbnail; None where there is no image to be read: scores alone are no images."""
    path = Path(str(images.images[place]))
    try:
        if images.read is not None:
            return thumbnail_address(images.read(place))
        return thumbnail_address(read_picture(path)) if path.is_file() else None
    except OpenworldError:
        return None
