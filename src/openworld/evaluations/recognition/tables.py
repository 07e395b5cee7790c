"""The tables of recognition: the main numbers of a setting, all others, other mixes, operating points, an overview."""

from collections.abc import Sequence

from openworld.evaluations.recognition.mixes import ALL_RATIOS, SHRUNK, VARIANCES, ratios, shrunk_halves
from openworld.evaluations.recognition.operating_results import (
    COST,
    RATES,
    LearnerOperatingPoint,
    rule_in_words,
    whether_it_holds,
)
from openworld.evaluations.recognition.record import MIXED
from openworld.evaluations.recognition.results import AUC, HM, LOSSES, RecognitionResults, SettingResults
from openworld.metrics import QUANTITIES
from openworld.report.sentences import counted
from openworld.report.table import Cell, Column, Row, Table
from openworld.results import METRICS, TEXT, Value

OPERATING = "operating points"
SHORT = {"forward": "Fwd", "backward": "Bwd"}
FURTHER = {
    "harmonic_mean": "HM per seed",
    "correct_auroc": "",
    "overall_accuracy": "",
    "aupr_in": "AUPR, base positive",
    "aupr_out": "AUPR, new positive",
    "fpr95_in_positive": "",
    "fpr95_out_positive": "",
    "expected_calibration_error": "",
}
"""Metric -> what heads its column, where that is not the metric's own title."""


def overview_table(found: RecognitionResults) -> Table:
    """Learners by settings: OpenworldAUC, its mean over the settings first."""
    columns = (Column(AUC, "mean", priority=2), *(Column(AUC, one.title) for one in found.settings))
    rows = []
    for learner in found.learners:
        average = found.averages.get(learner)
        mean = Value(average) if average is not None else Value(None, reason="it was not run in every setting")
        values = (one.value(learner, AUC.key) if learner in one.learners else None for one in found.settings)
        rows.append(Row(learner, (mean, *values), learner))
    return Table(
        "overview",
        "OpenworldAUC of every learner in every setting",
        "OpenworldAUC, percent, means over the seeds; [95 % over images]. Tests stand in the table of each setting. "
        "The mean is over all settings, equally weighted.",
        "learner",
        columns,
        tuple(rows),
    )


def main_table(one: SettingResults, name: str) -> Table:
    """OpenworldAUC with its intervals, its parts, what it cost, and the tests."""
    parts = (METRICS["auroc"], METRICS["base_accuracy"], METRICS["new_accuracy"])
    tuned, fit, scoring = (METRICS[key] for key in ("tuned_parameters", "fit_seconds", "score_seconds"))
    columns = [
        *([Column(tuned, priority=2)] * one.trained),
        Column(AUC, intervals=0, headline=True, priority=7),
        Column(AUC, "95 % over images", show="interval", over="images", priority=7),
        Column(AUC, "95 % over seeds", show="interval", over="seeds", priority=1),
        Column(HM, intervals=0, priority=4),
        *(Column(metric, intervals=0, priority=6) for metric in parts),
        *([Column(fit, intervals=0, priority=2), Column(scoring, intervals=0)] * one.trained),
        *(Column(TEXT, f"against {other}", priority=5 - 2 * place) for place, other in enumerate(one.opponents)),
    ]
    keys = [column.metric.key for column in columns if not column.words]
    rows = []
    for learner in one.learners:
        values = (one.value(learner, key) for key in keys)
        rows.append(Row(learner, (*values, *(one.compare(learner, other) for other in one.opponents)), learner))
    return Table(name, one.title, caption(one), "learner", tuple(columns), tuple(rows))


def further_table(one: SettingResults, name: str) -> Table:
    """Every other number of the records."""
    columns = tuple(Column(METRICS[key], title, intervals=key in QUANTITIES) for key, title in FURTHER.items())
    columns += tuple(Column(metric) for metric in LOSSES.values() if one.find(one.best, metric.key))
    rows = tuple(
        Row(learner, tuple(one.find(learner, column.metric.key) for column in columns), learner)
        for learner in one.learners
    )
    text = f"Percent; {_means(one)}; [95 % over images where it is known]. HM here is the mean of the seeds' own HM."
    return Table(name, f"{one.title}, further numbers", text, "learner", columns, rows)


def imbalance_table(one: SettingResults, name: str) -> Table | None:
    """Both directions beside the natural mix, with intervals and tests; None where no record holds them."""
    halves = shrunk_halves(one.outcomes)
    if not halves:
        return None
    overall = METRICS["overall_accuracy"]
    other = one.baseline or one.best
    columns = [Column(AUC, "as given", priority=3)]
    for short in SHORT.values():
        columns += [Column(AUC, short, priority=3), Column(AUC, f"{short}, ± of one draw", show="deviation")]
    columns += [Column(overall, "overall accuracy", intervals=0, priority=1)]
    columns += [Column(overall, f"its {short}", intervals=0, priority=1) for short in SHORT.values()]
    columns += [
        Column(TEXT, f"{short} against {other}", priority=2) for short in SHORT.values() if len(one.learners) > 1
    ]
    rows = []
    for learner in one.learners:
        cells = [one.value(learner, AUC.key)]
        for mix in SHRUNK:
            cells += [one.value(learner, AUC.key, mix=mix)] * 2
        cells += [one.value(learner, overall.key), *(one.value(learner, overall.key, mix=mix) for mix in SHRUNK)]
        cells += [one.compare(learner, other, mix) for mix in SHRUNK if len(one.learners) > 1]
        rows.append(Row(learner, tuple(cells), learner))
    return Table(
        name,
        f"{one.title}, imbalanced mixtures",
        _imbalance_caption(one, halves),
        "learner",
        tuple(columns),
        tuple(rows),
    )


def variation_table(one: SettingResults, name: str) -> Table | None:
    """Mean and variance of every number over the ratios of the sweep; None where no record holds them."""
    if not one.results.where(mix=ALL_RATIOS).rows:
        return None
    metrics = [metric for key in reversed(MIXED) for metric in (METRICS[key], VARIANCES[key])]
    columns = tuple(
        Column(metric, "" if metric.key in METRICS else "var", intervals=0, priority=metric.key in METRICS)
        for metric in metrics
    )
    rows = tuple(
        Row(learner, tuple(one.value(learner, metric.key, mix=ALL_RATIOS) for metric in metrics), learner)
        for learner in one.learners
    )
    swept, draws = ratios(one.outcomes), next(iter(one.outcomes.values()))[0].record.ratio_sweep[0].resamples
    text = (
        f"Percent; means over {len(swept)} ratios of new to base images, the natural one times "
        f"{', '.join(f'{ratio:g}' for ratio in swept)}. var: sample variance over the ratios in one draw, squared "
        f"points. Both are averaged over {counted(draws, 'draw')} and the seeds. A number that measures the learner "
        "and not the mix varies little."
    )
    return Table(name, f"{one.title}, over all ratios", text, "learner", columns, rows)


def operating_table(one: SettingResults, found: Sequence[LearnerOperatingPoint], name: str) -> Table:
    """Where every learner is run, and whether what the rule requires holds there."""
    columns = [Column(TEXT, "threshold", priority=1), *(Column(metric, priority=1) for metric in RATES.values())]
    columns += [Column(COST, priority=1)] if found[0].costs else []
    columns += [Column(TEXT, "as required?", priority=1)] if any(map(whether_it_holds, found)) else []
    rows = []
    for point in found:
        words, _, limit = whether_it_holds(point).partition(": ")
        cells = (_thresholds(point), *(point.rate(name) for name in RATES), *([point.cost] if point.costs else []))
        rows.append(
            Row(point.learner, (*cells, Cell(words, under=limit, note=point.reason))[: len(columns)], point.learner)
        )
    return Table(
        name,
        f"{one.title}, {OPERATING}",
        _operating_caption(one, found),
        "learner",
        tuple(columns),
        tuple(rows),
        best="",
    )


def caption(one: SettingResults) -> str:
    """What the intervals, the seeds and the tests of a setting are about."""
    counts = one.counts
    given = "the seed" if counts.seeds == 1 else "the seeds"
    clustered = f", clustered by {one.group_name} (n = {counts.groups})" if one.group_name else ""
    corrected = f"; p after Holm over {one.tested} pairs" if one.tested > 1 else ""
    fewer = f" Trained on {one.shots}." if "asked" in one.shots else ""
    intervals = f"[95 % over images{clustered}, given {given}]"
    return f"Percent; {_means(one)}; {intervals}; HM of the mean accuracies{corrected}.{fewer}"


def _means(one: SettingResults) -> str:
    return "1 seed" if one.counts.seeds == 1 else f"means of {one.counts.seeds} seeds"


def _thresholds(point: LearnerOperatingPoint) -> str:
    """One number where all seeds share it, else one a seed."""
    texts = ["none" if value is None else f"{value:.4g}" for value in point.thresholds]
    return texts[0] if len(set(texts)) == 1 else " ".join(texts)


def _imbalance_caption(one: SettingResults, halves) -> str:
    counts, draws = one.counts, halves["forward"].resamples
    kept = "; ".join(
        f"{SHORT[name]}: every {half.side} class keeps one image in {half.factor:g}, at least one ({half.n_base} base, "
        f"{half.n_new} new)"
        for name, half in halves.items()
    )
    clustered = f", clustered by {one.group_name} (n = {counts.groups})" if one.group_name else ""
    pairs = len(one.learners) * (len(one.learners) - 1) // 2
    corrected = f"; p after Holm over {pairs} pairs in each mix" if pairs > 1 else ""
    return (
        f"OpenworldAUC, percent, as given ({counts.base_images} base, {counts.new_images} new images) and with one "
        f"half shrunk. {kept}; {f'means of {draws} draws' if draws > 1 else 'one draw'} and of "
        f"{counted(counts.seeds, 'seed')}. ± of one draw: its standard deviation. [95 % over images{clustered}, given "
        f"the seeds, of the mean over all draws]{corrected}. Overall accuracy, among all names, follows the mix."
    )


def _operating_caption(one: SettingResults, found: Sequence[LearnerOperatingPoint]) -> str:
    """What the thresholds, rates and intervals are about."""
    first, counts = found[0], one.counts
    chosen_on, seeds = first.points[0].validation, max((each.seeds for each in found), key=len)
    several = f", one a seed ({' '.join(map(str, seeds))})" if len(seeds) > 1 else ""
    scale = "baseness (a fraction)" if first.on_baseness else "score"
    base, new = (len(set(groups.tolist())) for groups in next(iter(one.outcomes.values()))[0].test.groups)
    clustered = f", clustered by {one.group_name} (n = {base} base, {new} new)" if one.group_name else ""
    means = f"means of {len(seeds)} seeds; " if len(seeds) > 1 else ""
    costs = " Cost: expected, of an image." if first.costs else ""
    return (
        f"Rule: {rule_in_words(first.rule)}. An image whose {scale} lies below the threshold{several} is flagged as "
        f"new; chosen on {chosen_on.n_base} base and {chosen_on.n_new} new validation images. Rates on "
        f"{counts.base_images} base and {counts.new_images} new test images, percent; {means}[95 % over "
        f"images{clustered}, given the threshold{'s' * bool(several)}]. Missed: base, flagged or misnamed. Hit: new, "
        f"flagged and named right.{costs}"
    )
