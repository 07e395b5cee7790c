"""Chapters on references: calibration, the threshold, how the reference is used, and nearness in meaning.

Each is a table with sentences; a run that says nothing of it has neither.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from openworld.evaluations.accuracy_estimation.ablations import (
    ANSWERS,
    CALIBRATED,
    SIMILARITIES,
    reference_uses,
    threshold_pairs,
)
from openworld.evaluations.accuracy_estimation.cards import (
    ALIGNMENT,
    ALIGNMENT_GAIN,
    CALIBRATION,
    ERROR,
    GAINS,
    TEMPERATURE,
    THRESHOLD_COST,
)
from openworld.evaluations.accuracy_estimation.measurements import AVERAGE, Measurements
from openworld.evaluations.accuracy_estimation.record import FUSED, RAW, SCALED, TTC
from openworld.evaluations.accuracy_estimation.reference_results import CALIBRATIONS, CLASSIFIERS
from openworld.evaluations.accuracy_estimation.tables import error_cell
from openworld.report.sentences import counted, none_or
from openworld.report.table import Cell, Column, Row, Table
from openworld.results import Results


def calibration_table(results: Results, measured: Measurements) -> Table | None:
    """Return lines by models; the smaller error of each model in bold; the median temperatures at the end."""
    entities = results.where(metric=CALIBRATION.key, images=measured.main).entities
    kinds = {entity: _kinds(results, entity, measured.main) for entity in entities}
    tempered = results.where(metric=TEMPERATURE.key, images=measured.rows[0]).entities
    if not entities:
        return None
    columns = [Column(CALIBRATION, f"{entity}, {kind}", intervals=0) for entity in entities for kind in kinds[entity]]
    columns += [Column(TEMPERATURE, f"τ of {name}") for name in tempered]

    def row(line: str) -> Row:
        cells = []
        for entity in entities:
            values = [results.value(entity, CALIBRATION.key, images=line, calibration=kind) for kind in kinds[entity]]
            cells += _smaller_in_bold(list(map(Cell, values)))
        medians = (None if line == AVERAGE else results.value(name, TEMPERATURE.key, images=line) for name in tempered)
        return Row(line, (*cells, *medians), rule=line == AVERAGE)

    text = (
        "Expected calibration error (15 bins) on the targets, percent, means over conditions and classifiers; the "
        "smaller of a pair in bold. Raw: as the model says it, a reference at its own scale; scaled: with the "
        "temperature fitted on the source; TTC: with the temperature τ that FRAP finds on the unlabelled images "
        "(its median over conditions and models is given)."
    )
    rows = tuple(map(row, measured.lines))
    return Table("calibration", "Calibration error", text, "line", tuple(columns), rows, best="")


def calibration_sentences(results: Results, measured: Measurements) -> Iterator[str]:
    """Yield a sentence per reference: in how many lines TTC brings its confidence nearer to its accuracy."""
    for name in measured.references:
        if len(_kinds(results, name, measured.main)) < 2:
            continue

        def error(line: str, kind: str, name: str = name) -> float | None:
            return results.value(name, CALIBRATION.key, images=line, calibration=CALIBRATIONS[kind]).value

        raw, calibrated = (error(measured.main, kind) for kind in (RAW, TTC))
        if None not in (raw, calibrated):
            better = sum(error(row, TTC) < error(row, RAW) for row in measured.rows)
            yield (
                f"Calibrated on the unlabelled images, {name}'s calibration error goes from {CALIBRATION.write(raw)} "
                f"to {CALIBRATION.write(calibrated)}\u00a0% on average; it is smaller in {none_or(better)} of "
                f"{counted(len(measured.rows), 'line')}."
            )


def threshold_table(results: Results, measured: Measurements) -> Table | None:
    """Return lines by methods with and without threshold, and what leaving it out costs."""
    pairs = threshold_pairs(measured.methods)
    if not pairs:
        return None
    columns = []
    for both in pairs:
        columns += [*(Column(ERROR, label, intervals=0) for label in both), Column(THRESHOLD_COST)]

    def row(line: str) -> Row:
        cells = []
        for twin, bare in pairs:
            cells += _smaller_in_bold([error_cell(results, measured, label, line) for label in (twin, bare)])
            cells.append(results.value(bare, THRESHOLD_COST.key, images=line, baseline=twin))
        return Row(line, tuple(cells), rule=line == AVERAGE)

    text = (
        "Mean absolute error with and without threshold, points, the smaller in bold; without it the mean score itself "
        "is the estimated accuracy (FRAP, section 5.4 and Table 6)."
    )
    rows = tuple(map(row, measured.lines))
    return Table("threshold", "With and without threshold", text, "line", tuple(columns), rows, best="")


def threshold_sentences(results: Results, measured: Measurements) -> Iterator[str]:
    """Yield a sentence per pair: in how many lines the threshold pays."""
    for twin, bare in threshold_pairs(measured.methods):
        costs = [results.value(bare, THRESHOLD_COST.key, images=row, baseline=twin).value for row in measured.rows]
        known = [cost for cost in costs if cost is not None]
        means = [results.value(label, ERROR.key, images=measured.main).value for label in (bare, twin)]
        average = "" if None in means else f", on average {ERROR.write(means[0])} against {ERROR.write(means[1])}"
        worse = sum(cost > 0 for cost in known)
        yield f"Without threshold {twin} errs more in {worse} of {counted(len(known), 'line')}{average}."


def use_table(results: Results, measured: Measurements) -> Table | None:
    """Return references by how they are used: mean absolute error, the average of the lines (FRAP, Tables 3 and 4)."""
    uses = reference_uses(measured.methods)
    if sum(map(len, uses.values())) < 2:
        return None
    known = dict.fromkeys(use for by_use in uses.values() for use in by_use)
    ordered = sorted(known, key=lambda use: (use == CALIBRATED, use not in (ANSWERS, SIMILARITIES), use))

    def row(name: str) -> Row:
        labels = [uses[name].get(use) for use in ordered]
        return Row(name, tuple(label and error_cell(results, measured, label, measured.main) for label in labels))

    several = f"{AVERAGE.lower()} of {len(measured.rows)} lines"
    text = (
        f"Mean absolute error, {several if len(measured.rows) > 1 else measured.rows[0]}, points; the smallest of a "
        "reference in bold. Answers taken for labels: the share of images on which the reference names another class. "
        "Raw: its similarities as they are, not fused. τ: fused at a fixed temperature. TTC: fused at the temperature "
        "found on the unlabelled images."
    )
    columns = tuple(Column(ERROR, use, intervals=0) for use in ordered)
    return Table("references", "How the reference is used", text, "reference", columns, tuple(map(row, uses)), "rows")


def alignment_table(results: Results, measured: Measurements) -> Table | None:
    """Return lines by models, and the gaps with the share of cells in which they are above 0."""
    fused = results.where(metric=ALIGNMENT_GAIN.key).entities
    if not fused:
        return None
    columns = [Column(ALIGNMENT, CLASSIFIERS, intervals=0)]
    for entity in fused:
        name = entity.removeprefix(FUSED)
        columns += [Column(ALIGNMENT, each, intervals=0) for each in (name, entity)]
        columns += [Column(ALIGNMENT_GAIN, f"fused − {other}", intervals=0) for other in ("classifier", name)]

    def gap(entity: str, other: str, line: str) -> Cell:
        gain, share = (
            results.value(entity, metric.key, images=line, baseline=other) for metric in (ALIGNMENT_GAIN, GAINS)
        )
        return Cell(gain, under="" if share.value is None else f"{GAINS.write(share.value)}\u00a0%")

    def row(line: str) -> Row:
        cells = [results.value(CLASSIFIERS, ALIGNMENT.key, images=line)]
        for entity in fused:
            name = entity.removeprefix(FUSED)
            cells += [results.value(each, ALIGNMENT.key, images=line) for each in (name, entity)]
            cells += [gap(entity, other, line) for other in (CLASSIFIERS, name)]
        return Row(line, tuple(cells), rule=line == AVERAGE)

    taxonomy = measured.records[0].taxonomy.name
    by = f" by {taxonomy}" if taxonomy else ""
    text = (
        f"Semantic Alignment Score, percent: expected similarity in meaning{by} of a class drawn from the "
        "prediction to the true one, means over conditions and classifiers. Under a gap: the share of conditions and "
        "models in which it is above 0."
    )
    rows = tuple(map(row, measured.lines))
    return Table("alignment", "Semantic alignment", text, "line", tuple(columns), rows, best="")


def alignment_sentences(results: Results, measured: Measurements) -> Iterator[str]:
    """Yield a sentence per reference: how often fusing brings predictions nearer in meaning; or why it is not known."""
    reason = measured.records[0].taxonomy.reason
    if reason:
        yield f"Semantic alignment is not known: {reason.removesuffix('.')}."
    for entity in results.where(metric=ALIGNMENT_GAIN.key).entities:
        name = entity.removeprefix(FUSED)
        shares = (
            results.value(entity, GAINS.key, images=measured.main, baseline=other) for other in (CLASSIFIERS, name)
        )
        against_model, against_reference = (GAINS.write(share.value) for share in shares)
        yield (
            f"Fused with {name}, predictions lie nearer in meaning to the true class than the classifier's "
            f"in {against_model}\u00a0% of all cases, and than {name}'s own in {against_reference}\u00a0%."
        )


def _kinds(results: Results, entity: str, line: str) -> list[str]:
    """The kinds of calibration error that a table has of a model."""
    known = results.where(entity=entity, metric=CALIBRATION.key, images=line).places("calibration")
    return [kind for kind in known if kind in (CALIBRATIONS[each] for each in (RAW, SCALED, TTC))]


def _smaller_in_bold(cells: Sequence[Cell]) -> list[Cell]:
    """Cells of which the smallest number is in bold, where two are known and differ; also one that is incomplete."""
    numbers = [cell.content.value for cell in cells]
    differ = None not in numbers and len(set(numbers)) > 1
    return [replace(cell, bold=differ and number == min(numbers)) for cell, number in zip(cells, numbers, strict=True)]
