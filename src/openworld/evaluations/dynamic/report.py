"""What a run of dynamic scenarios shows."""

from openworld.evaluations.dynamic.curves import PLACE
from openworld.evaluations.dynamic.results import read_results
from openworld.report.layout import ENTITY, METRIC, Brief, Layout, Lines, Pivot, Ranks, Tests
from openworld.report.provenance import unit_facts
from openworld.report.report import Report
from openworld.report.sentences import counted
from openworld.results import RunFolder

CURVE = (
    *("auc", "delta_auc", "initial_accuracy", "worst_accuracy", "variation", "slope_variance"),
    *("positive_area", "negative_area", "delta_pn", "friedman_rank", "final_rank"),
)
LEGEND = (
    "AUC: area below the curve of accuracy. Acc(0): at the first level; WA: at the worst; EVM: mean change from level "
    "to level; VS: variance of the slope; PA and NA: areas above and below the baseline; ΔPN = PA − NA."
)

LAYOUT = Layout(
    "While the world changes",
    "auc",
    (
        Pivot("curves", "The numbers", CURVE, per=PLACE, note=LEGEND),
        Pivot(
            "levels",
            "The numbers",
            ("accuracy", "base_accuracy", "new_accuracy", "auroc"),
            rows=(METRIC, ENTITY),
            columns=("level",),
            per=PLACE,
            folded=True,
        ),
        Lines("ageing", "How does it age?", ("accuracy",), along="level", per=PLACE),
        Lines(
            "split",
            "What is lost, the old or the new?",
            ("base_accuracy", "new_accuracy", "auroc"),
            along="level",
            per=PLACE,
        ),
        Ranks("critical-difference", "Which ranks differ?", ("area_rank",), per=("scenario",)),
        Pivot("ranks", "Which ranks differ?", ("area_rank",), columns=("scenario",)),
        Pivot("friedman", "Which ranks differ?", ("friedman_p", "critical_difference"), rows=("scenario",)),
        Tests("nemenyi", "Which ranks differ?", ("area_rank",), folded=True),
        Tests("tests", "Every test", ("auc",), per=PLACE, folded=True),
        Tests(
            "over-seeds",
            "Every test, over seeds",
            of={"over": "seeds"},
            per=PLACE,
            note="Paired seed by seed, each with its own curve.",
            folded=True,
        ),
    ),
    PLACE,
)


def report(run: RunFolder) -> Report:
    results, units = read_results(run), [record.metrics for record in run.records]
    learners = tuple(dict.fromkeys(unit["learner"] for unit in units))
    baseline = next(unit["learner"] for unit in units if unit["yardstick"])
    seeds = " ".join(map(str, sorted({unit["seed"] for unit in units})))
    scenario_runs = {tuple(row.where.items()) for row in results.where(metric="auc") if "images" in row.where}
    left_out = {unit["dataset"]: len(unit["left_out"]) for unit in units if unit.get("left_out")}
    subtitle = (
        " + ".join(dict.fromkeys(unit["dataset"] for unit in units)),
        counted(len(scenario_runs), "scenario run"),
        counted(len(learners), "learner"),
        f"seeds {seeds}",
        *(f"{count} left out of {dataset}" for dataset, count in left_out.items()),
    )
    return LAYOUT.report(Brief(results, baseline, subtitle=subtitle, facts=unit_facts(run.records), run=run))
