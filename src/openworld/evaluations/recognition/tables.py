"""The tables of recognition: the main numbers of a setting, all others, other mixes, operating points, an overview."""

from openworld.evaluations.recognition.mixes import ALL_RATIOS, VARIANCES, shrunk_mixes, swept_mixes
from openworld.evaluations.recognition.operating_results import (
    COST,
    RATES,
    LearnerOperatingPoint,
    rule_in_words,
    whether_it_holds,
)
from openworld.evaluations.recognition.record import MIXED, SHRUNK
from openworld.evaluations.recognition.results import AUC, HM, LOSSES, TRAINING, RecognitionResults, SettingResults
from openworld.metrics import CLOSED_SET, QUANTITIES
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
    "aurc": "",
}
"""Metric -> what heads its column, where that is not the metric's own title."""


def overview_table(results: RecognitionResults) -> Table:
    """Learners by settings: OpenworldAUC, its mean over the settings first."""
    columns = (Column(AUC, "mean", priority=2), *(Column(AUC, setting.title) for setting in results.settings))
    rows = []
    for learner in results.learners:
        average = results.averages.get(learner)
        mean = Value(average, reason="it was not run in every setting" if average is None else "")
        values = (setting.find(learner, AUC.key) for setting in results.settings)
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


def main_table(setting: SettingResults, name: str) -> Table:
    """OpenworldAUC with its intervals, its parts, what it cost, and the tests."""
    if setting.closed_set:
        return _closed_set_table(setting, name)
    parts = (METRICS["auroc"], METRICS["base_accuracy"], METRICS["new_accuracy"])
    tuned, fit, scoring = (METRICS[key] for key in ("tuned_parameters", "fit_seconds", "score_seconds"))
    columns = [
        *([Column(tuned, priority=2)] * setting.trained),
        Column(AUC, intervals=0, headline=True, priority=7),
        Column(AUC, "95 % over images", show="interval", over="images", priority=7),
        Column(AUC, "95 % over seeds", show="interval", over="seeds", priority=1),
        Column(HM, intervals=0, priority=4),
        *(Column(metric, intervals=0, priority=6) for metric in parts),
        *([Column(fit, intervals=0, priority=2), Column(scoring, intervals=0)] * setting.trained),
        *(Column(TEXT, f"against {other}", priority=5 - 2 * place) for place, other in enumerate(setting.opponents)),
    ]
    return _with_tests(setting, name, caption(setting), columns)


def _closed_set_table(setting: SettingResults, name: str) -> Table:
    """What there is of classifiers that know base names alone: base accuracy, and telling base from new."""
    auroc = METRICS["auroc"]
    detection = ("fpr95_in_positive", "fpr95_out_positive", "aupr_in", "aupr_out", "aurc")
    columns = [
        Column(auroc, intervals=0, headline=True, priority=7),
        Column(auroc, "95 % over images", show="interval", over="images", priority=7),
        Column(auroc, "95 % over seeds", show="interval", over="seeds", priority=1),
        Column(METRICS["base_accuracy"], "base accuracy", priority=6),
        *(Column(METRICS[key], FURTHER.get(key, ""), intervals=0, priority=4) for key in detection),
        *(Column(TEXT, f"against {other}", priority=5 - 2 * place) for place, other in enumerate(setting.opponents)),
    ]
    text = (
        f"{caption(setting)} No OpenworldAUC: {CLOSED_SET}. FPR95: share of the others let through where 95 % of the "
        "positives are kept. AURC: share of wrong names among the base images that are answered, most base-like first, "
        "mean over all shares answered."
    )
    return _with_tests(setting, name, text, columns)


def _with_tests(setting: SettingResults, name: str, text: str, columns: list[Column]) -> Table:
    """A table of a setting: the value of every column's metric, and the tests in its last columns."""
    keys = [column.metric.key for column in columns if not column.words]
    rows = []
    for learner in setting.learners:
        values = (setting.value(learner, key) for key in keys)
        tests = (setting.compare(learner, other) for other in setting.opponents)
        rows.append(Row(learner, (*values, *tests), learner))
    return Table(name, setting.title, text, "learner", tuple(columns), tuple(rows))


def further_table(setting: SettingResults, name: str) -> Table:
    """Every other number of the records."""
    columns = tuple(
        Column(METRICS[key], title, intervals=key in QUANTITIES)
        for key, title in FURTHER.items()
        if key != "aurc" or any(setting.find(learner, key) for learner in setting.learners)
    )
    columns += tuple(Column(metric) for metric in LOSSES.values() if setting.find(setting.best, metric.key))
    rows = tuple(
        Row(learner, tuple(setting.find(learner, column.metric.key) for column in columns), learner)
        for learner in setting.learners
    )
    text = f"Percent; {means(setting)}; [95 % over images where it is known]. HM here is the mean of the seeds' own HM."
    return Table(name, f"{setting.title}, further numbers", text, "learner", columns, rows)


def imbalance_table(setting: SettingResults, name: str) -> Table | None:
    """Both directions beside the natural mix, with intervals and tests; None where no record holds them."""
    if not shrunk_mixes(setting.outcomes):
        return None
    overall = METRICS["overall_accuracy"]
    other, several = setting.baseline or setting.best, len(setting.learners) > 1
    columns = [Column(AUC, "as given", priority=3)]
    for short in SHORT.values():
        columns += [Column(AUC, short, priority=3), Column(AUC, f"{short}, ± of one draw", show="deviation")]
    columns += [Column(overall, "overall accuracy", intervals=0, priority=1)]
    columns += [Column(overall, f"its {short}", intervals=0, priority=1) for short in SHORT.values()]
    columns += [Column(TEXT, f"{short} against {other}", priority=2) for short in SHORT.values() if several]
    rows = []
    for learner in setting.learners:
        cells = [setting.value(learner, AUC.key)]
        for mix in SHRUNK:
            cells += [setting.value(learner, AUC.key, mix=mix)] * 2
        cells += [setting.value(learner, overall.key)]
        cells += [setting.value(learner, overall.key, mix=mix) for mix in SHRUNK]
        cells += [setting.compare(learner, other, mix) for mix in SHRUNK if several]
        rows.append(Row(learner, tuple(cells), learner))
    title = f"{setting.title}, imbalanced mixtures"
    return Table(name, title, _imbalance_caption(setting), "learner", tuple(columns), tuple(rows))


def variation_table(setting: SettingResults, name: str) -> Table | None:
    """Mean and variance of every number over the ratios of the sweep; None where no record holds them."""
    if not (setting.results.where(mix=ALL_RATIOS).rows and swept_mixes(setting.outcomes)):
        return None
    metrics = [metric for key in reversed(MIXED) for metric in (METRICS[key], VARIANCES[key])]
    columns = tuple(
        Column(metric, "" if metric.key in METRICS else "var", intervals=0, priority=metric.key in METRICS)
        for metric in metrics
    )
    rows = tuple(
        Row(learner, tuple(setting.value(learner, metric.key, mix=ALL_RATIOS) for metric in metrics), learner)
        for learner in setting.learners
    )
    swept = swept_mixes(setting.outcomes)
    text = (
        f"Percent; means over {len(swept)} ratios of new to base images, the natural one times "
        f"{', '.join(f'{mix.ratio:g}' for mix in swept)}. var: sample variance over the ratios in one draw, squared "
        f"points. Both are averaged over {counted(swept[0].resamples, 'draw')} and the seeds. A number that measures "
        "the learner and not the mix varies little."
    )
    return Table(name, f"{setting.title}, over all ratios", text, "learner", columns, rows)


def operating_table(setting: SettingResults, name: str) -> Table:
    """Where every learner is run, and whether what the rule requires holds there."""
    points = setting.operating_points
    metrics = {**RATES, **({"cost": COST} if "cost" in points[0].on_test else {})}
    columns = [Column(TEXT, "threshold", priority=1), *(Column(metric, priority=1) for metric in metrics.values())]
    columns += [Column(TEXT, "as required?", priority=1)] if any(map(whether_it_holds, points)) else []
    rows = []
    for point in points:
        words, _, limit = whether_it_holds(point).partition(": ")
        required = Cell(words, under=limit, note=point.reason)
        cells = (_thresholds(point), *(point.rate(key) for key in metrics), required)
        rows.append(Row(point.learner, cells[: len(columns)], point.learner))
    title = f"{setting.title}, {OPERATING}"
    return Table(name, title, _operating_caption(setting), "learner", tuple(columns), tuple(rows), best="")


def caption(setting: SettingResults) -> str:
    """What the intervals, the seeds and the tests of a setting are about."""
    corrected = f"; p after Holm over {setting.tested} pairs" if setting.tested > 1 else ""
    intervals = f"[95 % over images{clustered(setting)}, given {given(setting)}]"
    of_means = "" if setting.closed_set else "; HM of the mean accuracies"
    return f"Percent; {means(setting)}; {intervals}{of_means}{corrected}.{trained_on(setting)}"


def means(setting: SettingResults) -> str:
    """What the numbers are, over their seeds."""
    seeds = len(setting.most_seeds)
    return "1 seed" if seeds == 1 else f"means of {seeds} seeds"


def given(setting: SettingResults) -> str:
    """What intervals over images and tests take as given."""
    return "the seed" if len(setting.most_seeds) == 1 else "the seeds"


def clustered(setting: SettingResults, count: str = "") -> str:
    """Say by what images are clustered, and how many groups there are; "" where every image stands alone."""
    count = count or str(setting.first.test.n_groups)
    return f", clustered by {setting.group_name} (n = {count})" if setting.group_name else ""


def trained_on(setting: SettingResults) -> str:
    """A sentence where some class had fewer training images than the shots; "" otherwise."""
    fewest = [row.value.value for row in setting.results.where(metric=TRAINING["fewest"].key)]
    return f" Trained on {setting.shots}." if fewest and fewest[0] < (setting.key.shots or 0) else ""


def _thresholds(point: LearnerOperatingPoint) -> str:
    """One number where all seeds share it, else one a seed; on baseness where the learner was fitted here."""
    scores = point.thresholds["threshold"].per_seed
    fitted = point.thresholds["baseness"].per_seed if "baseness" in point.thresholds else scores
    values = [score if baseness is None else baseness for score, baseness in zip(scores, fitted, strict=True)]
    texts = ["none" if value is None else f"{value:.4g}" for value in values]
    return texts[0] if len(set(texts)) == 1 else " ".join(texts)


def _imbalance_caption(setting: SettingResults) -> str:
    mixes, test = shrunk_mixes(setting.outcomes), setting.first.test
    draws, seeds = mixes["forward"].resamples, len(setting.most_seeds)
    kept = "; ".join(
        f"{SHORT[name]}: every {SHRUNK[name]} class keeps one image in {mix.factor:g}, at least one "
        f"({mix.n_base} base, {mix.n_new} new)"
        for name, mix in mixes.items()
    )
    pairs = len(setting.learners) * (len(setting.learners) - 1) // 2
    corrected = f"; p after Holm over {pairs} pairs in each mix" if pairs > 1 else ""
    return (
        f"OpenworldAUC, percent, as given ({test.n_base} base, {test.n_new} new images) and with one "
        f"half shrunk. {kept}; {f'means of {draws} draws' if draws > 1 else 'one draw'} and of "
        f"{counted(seeds, 'seed')}. ± of one draw: its standard deviation. [95 % over images{clustered(setting)}, "
        f"given the seeds, of the mean over all draws]{corrected}. Overall accuracy, among all names, follows the mix."
    )


def _operating_caption(setting: SettingResults) -> str:
    """What the thresholds, rates and intervals are about."""
    points, test = setting.operating_points, setting.first.test
    first, seeds = points[0], max((point.thresholds["threshold"].seeds for point in points), key=len)
    chosen_on = setting.outcomes[first.learner][0].record.operating_point.validation
    several = f", one a seed ({' '.join(map(str, seeds))})" if len(seeds) > 1 else ""
    scale = "baseness (a fraction)" if "baseness" in first.thresholds else "score"
    base, new = (len(set(groups.tolist())) for groups in test.groups)
    averaged = f"means of {len(seeds)} seeds; " if len(seeds) > 1 else ""
    costs = " Cost: expected, of an image." if "cost" in first.on_test else ""
    return (
        f"Rule: {rule_in_words(first.rule)}. An image whose {scale} lies below the threshold{several} is flagged as "
        f"new; chosen on {chosen_on.n_base} base and {chosen_on.n_new} new validation images. Rates on {test.n_base} "
        f"base and {test.n_new} new test images, percent; {averaged}[95 % over "
        f"images{clustered(setting, f'{base} base, {new} new')}, given the threshold{'s' * bool(several)}]. Missed: "
        f"base, flagged or misnamed. Hit: new, flagged and named right.{costs}"
    )
