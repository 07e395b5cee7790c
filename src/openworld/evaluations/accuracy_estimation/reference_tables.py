"""Chapters on references: calibration, the threshold, how the reference is used, and nearness in meaning.

Each is a table with sentences; a run that says nothing of it has neither.
"""

from collections.abc import Iterator
from dataclasses import replace

from openworld.evaluations.accuracy_estimation.ablations import (
    ANSWERS,
    CALIBRATED,
    SIMILARITIES,
    reference_uses,
    threshold_pairs,
)
from openworld.evaluations.accuracy_estimation.measurements import AVERAGE, Measurements
from openworld.evaluations.accuracy_estimation.record import FUSED, RAW, SCALED, TTC
from openworld.evaluations.accuracy_estimation.reference_results import (
    ALIGNMENT,
    ALIGNMENT_GAIN,
    CALIBRATION,
    CALIBRATIONS,
    GAINS,
    JUDGED,
    TEMPERATURE,
)
from openworld.evaluations.accuracy_estimation.results import ERROR, THRESHOLD_COST
from openworld.evaluations.accuracy_estimation.tables import error_cell
from openworld.report.sentences import counted, none_or
from openworld.report.table import Cell, Column, Row, Table
from openworld.results import Results, Value


def calibration_table(found: Results, measured: Measurements) -> Table | None:
    """Lines by models; the smaller error of each model in bold; the median temperatures at the end."""
    entities = found.where(metric=CALIBRATION.key, images=measured.main).entities
    kinds = {entity: _kinds(found, entity, measured.main) for entity in entities}
    tempered = found.where(metric=TEMPERATURE.key, images=measured.rows[0]).entities
    if not entities:
        return None
    columns = [Column(CALIBRATION, f"{entity}, {kind}", intervals=0) for entity in entities for kind in kinds[entity]]
    columns += [Column(TEMPERATURE, f"τ of {name}") for name in tempered]

    def row(line: str) -> Row:
        cells = []
        for entity in entities:
            values = [found.value(entity, CALIBRATION.key, images=line, calibration=kind) for kind in kinds[entity]]
            known = [value.value for value in values if value.value is not None]
            cells += [Cell(value, bold=len(values) > 1 and value.value in (min(known, default=0),)) for value in values]
        medians = (None if line == AVERAGE else found.value(name, TEMPERATURE.key, images=line) for name in tempered)
        return Row(line, (*cells, *medians), rule=line == AVERAGE)

    text = (
        "Expected calibration error (15 bins) on the targets, percent, means over conditions and judged models; the "
        "smaller of a pair in bold. Raw: as the model says it, a reference at its own scale; scaled: with the "
        "temperature fitted on the source; TTC: with the temperature τ that FRAP finds on the unlabelled images "
        "(its median over conditions and models is given)."
    )
    rows = tuple(map(row, measured.lines))
    return Table("calibration", "Calibration error", text, "line", tuple(columns), rows, best="")


def calibration_sentences(found: Results, measured: Measurements) -> Iterator[str]:
    """A sentence per reference: in how many lines TTC brings its confidence nearer to its accuracy."""
    for name in measured.references:
        if len(_kinds(found, name, measured.main)) < 2:
            continue
        raw, calibrated = (
            {
                line: found.value(name, CALIBRATION.key, images=line, calibration=CALIBRATIONS[kind]).value
                for line in measured.lines
            }
            for kind in (RAW, TTC)
        )
        if None in (raw[measured.main], calibrated[measured.main]):
            continue
        better = sum(calibrated[row] < raw[row] for row in measured.rows)
        yield (
            f"Calibrated on the unlabelled images, {name}'s calibration error goes from "
            f"{CALIBRATION.write(raw[measured.main])} to {CALIBRATION.write(calibrated[measured.main])}\u00a0% on "
            f"average; it is smaller in {none_or(better)} of {counted(len(measured.rows), 'line')}."
        )


def threshold_table(found: Results, measured: Measurements) -> Table | None:
    """Lines by methods with and without threshold, and what leaving it out costs."""
    pairs = threshold_pairs(measured.methods)
    if not pairs:
        return None
    columns = []
    for both in pairs:
        columns += [*(Column(ERROR, label, intervals=0) for label in both), Column(THRESHOLD_COST)]

    def row(line: str) -> Row:
        cells = []
        for twin, bare in pairs:
            both = [error_cell(found, measured, label, line) for label in (twin, bare)]
            cells += [*_smaller_in_bold(both), found.value(bare, THRESHOLD_COST.key, images=line, baseline=twin)]
        return Row(line, tuple(cells), rule=line == AVERAGE)

    text = (
        "Mean absolute error with and without threshold, points, the smaller in bold; without it the mean score itself "
        "is the estimated accuracy (FRAP, section 5.4 and Table 6)."
    )
    rows = tuple(map(row, measured.lines))
    return Table("threshold", "With and without threshold", text, "line", tuple(columns), rows, best="")


def threshold_sentences(found: Results, measured: Measurements) -> Iterator[str]:
    """A sentence per pair: in how many lines the threshold pays."""
    for twin, bare in threshold_pairs(measured.methods):
        costs = [found.value(bare, THRESHOLD_COST.key, images=row, baseline=twin).value for row in measured.rows]
        known = [cost for cost in costs if cost is not None]
        means = [found.value(label, ERROR.key, images=measured.main).value for label in (bare, twin)]
        average = "" if None in means else f", on average {ERROR.write(means[0])} against {ERROR.write(means[1])}"
        worse = sum(cost > 0 for cost in known)
        yield f"Without threshold {twin} errs more in {worse} of {counted(len(known), 'line')}{average}."


def use_table(found: Results, measured: Measurements) -> Table | None:
    """References by how they are used: mean absolute error, the average over the lines (FRAP's Tables 3 and 4)."""
    uses = reference_uses(measured.methods)
    if sum(map(len, uses.values())) < 2:
        return None
    known = dict.fromkeys(use for by_use in uses.values() for use in by_use)
    ordered = sorted(known, key=lambda use: (use == CALIBRATED, use not in (ANSWERS, SIMILARITIES), use))

    def row(name: str) -> Row:
        labels = [uses[name].get(use) for use in ordered]
        cells = [label and error_cell(found, measured, label, measured.main) for label in labels]
        return Row(name, tuple(cells))

    average = (
        f", {AVERAGE.lower()} of {len(measured.rows)} lines" if len(measured.rows) > 1 else f", {measured.rows[0]}"
    )
    text = (
        f"Mean absolute error{average}, points; the smallest of a reference in bold. "
        "Answers taken for labels: the share of images on which the reference names another class. Raw: its "
        "similarities as they are, not fused. τ: fused at a fixed temperature. TTC: fused at the temperature found on "
        "the unlabelled images."
    )
    columns = tuple(Column(ERROR, use, intervals=0) for use in ordered)
    return Table("references", "How the reference is used", text, "reference", columns, tuple(map(row, uses)), "rows")


def alignment_table(found: Results, measured: Measurements) -> Table | None:
    """Lines by models, and the gaps with the share of cells in which they are above 0."""
    fused = found.where(metric=ALIGNMENT_GAIN.key).entities
    if not fused:
        return None
    pairs = [(entity, entity.removeprefix(FUSED)) for entity in fused]
    columns = [Column(ALIGNMENT, JUDGED, intervals=0)]
    for entity, name in pairs:
        columns += [Column(ALIGNMENT, name, intervals=0), Column(ALIGNMENT, entity, intervals=0)]
        columns += [Column(ALIGNMENT_GAIN, f"fused − {other}", intervals=0) for other in ("judged", name)]

    def row(line: str) -> Row:
        cells: list[Value | Cell] = [found.value(JUDGED, ALIGNMENT.key, images=line)]
        for entity, name in pairs:
            cells += [found.value(each, ALIGNMENT.key, images=line) for each in (name, entity)]
            for other in (JUDGED, name):
                gain, share = (found.value(entity, metric.key, images=line, baseline=other)
                               for metric in (ALIGNMENT_GAIN, GAINS))  # fmt: skip
                cells.append(Cell(gain, under="" if share.value is None else f"{GAINS.write(share.value)}\u00a0%"))
        return Row(line, tuple(cells), rule=line == AVERAGE)

    taxonomy = measured.records[0].taxonomy.name
    by = f" by {taxonomy}" if taxonomy else ""
    text = (
        f"Semantic Alignment Score, percent: expected similarity in meaning{by} of a class drawn from the "
        "prediction to the true one, means over conditions and judged models. Under a gap: the share of conditions and "
        "models in which it is above 0."
    )
    rows = tuple(map(row, measured.lines))
    return Table("alignment", "Semantic alignment", text, "line", tuple(columns), rows, best="")


def alignment_sentences(found: Results, measured: Measurements) -> Iterator[str]:
    """A sentence per reference: how often fusing brings predictions nearer in meaning to the truth; or why none."""
    reason = measured.records[0].taxonomy.reason
    if reason:
        yield f"Semantic alignment is not known: {reason.removesuffix('.')}."
    for entity in found.where(metric=ALIGNMENT_GAIN.key).entities:
        name = entity.removeprefix(FUSED)
        judged, alone = (
            GAINS.write(found.value(entity, GAINS.key, images=measured.main, baseline=other).value)
            for other in (JUDGED, name)
        )
        yield (
            f"Fused with {name}, predictions lie nearer in meaning to the true class than the judged model's "
            f"in {judged}\u00a0% of all cases, and than {name}'s own in {alone}\u00a0%."
        )


def _kinds(found: Results, entity: str, line: str) -> list[str]:
    """The kinds of calibration error that are shown of a model."""
    known = found.where(entity=entity, metric=CALIBRATION.key, images=line).places("calibration")
    return [kind for kind in known if kind in (CALIBRATIONS[each] for each in (RAW, SCALED, TTC))]


def _smaller_in_bold(cells: list[Cell]) -> list[Cell]:
    """Two cells, the smaller of two numbers in bold; also one that is incomplete."""
    first, second = (cell.content.value for cell in cells)
    known = None not in (first, second)
    return [replace(cells[0], bold=known and first < second), replace(cells[1], bold=known and second < first)]
