"""What a run of recognition by shift shows, and two runs of a pool side by side."""

from collections.abc import Iterator
from dataclasses import replace

from openworld.evaluations.recognition_by_shift.record import OPEN_WORLD, PARTS
from openworld.evaluations.recognition_by_shift.results import AUC, LEVEL_START, RecognitionShiftFacts, read_results
from openworld.evaluations.shots import shots_in_words, training_images
from openworld.report.layout import ENTITY, Brief, Layout, Lines, Map, Pivot, Tests
from openworld.report.layout.verdict import leaders
from openworld.report.report import Report
from openworld.report.shift_axes import LEVELS, NEAR
from openworld.results import Pair, RunFolder, pair_results

WHERE = ("view", "axis")
CELL = {"rows": (ENTITY, "covariate_level"), "columns": ("semantic_level",)}
"""How cells are arranged."""

LEVEL = "Levels count from 0, the nearest to what was tuned on; semantic: in meaning, covariate: in appearance."
VIEW = (
    "Training appearance: base test images stay as they are, so base accuracy is the same at every level. Appearance "
    "of the new images: base images of the pool move away together with the new ones, as when a camera changes."
)
ERRORS = (
    "Points: the estimated minus the true accuracy of each cell, averaged over the seeds first, then over cells and "
    "learners. Bias: above 0 where the accuracy is overestimated."
)
NUMBERS, DISTANCE, CELLS = "The numbers", "How far off?", "Cell by cell"
ESTIMATED, OPEN, HELD = (
    "How accurate, without labels?",
    "How good in an open world, without labels?",
    "What levels and cells hold",
)

OFF, BIAS = ([f"{part}_{kind}" for part in OPEN_WORLD] for kind in ("error", "bias"))

LAYOUT = Layout(
    "How far off until it fails?",
    AUC.key,
    (
        Pivot(name="overall", title="Against all new images", metrics=tuple(PARTS), per=("view",)),
        Tests(name="tests", title="Against all new images", metrics=(AUC.key,), per=("view",), folded=True),
        Pivot(
            name="levels",
            title="By level",
            metrics=(AUC.key,),
            columns=("level",),
            per=WHERE,
            note=LEVEL,
            terminal=True,
        ),
        Pivot(name="parts", title="By level", metrics=tuple(PARTS)[1:], columns=("level",), per=WHERE, folded=True),
        Tests(name="tests-by-level", title="By level", metrics=(AUC.key,), rows=("level",), per=WHERE, folded=True),
        Pivot(
            name="trends",
            title="By level",
            metrics=("slope",),
            columns=("part", "axis"),
            per=("view",),
            note="Points per level: the slope of the line through the means of the cells at each level.",
            folded=True,
        ),
        Lines(name="by-level", title=DISTANCE, metrics=tuple(PARTS), along="level", per=WHERE, note=VIEW),
        Map(
            name="cells",
            title=CELLS,
            metrics=(AUC.key,),
            rows="covariate_level",
            columns="semantic_level",
            per=("view",),
            titles=(LEVELS["covariate"], LEVELS["semantic"]),
            note=f"{NEAR}. N/A: too few images.",
        ),
        Pivot(name="cells-of", title=CELLS, metrics=tuple(PARTS), per=("view",), **CELL, folded=True),
        Pivot(name="errors", label="estimator", title=ESTIMATED, metrics=("absolute_error", "bias"), note=ERRORS),
        Pivot(
            name="errors-by-level",
            title=ESTIMATED,
            metrics=("absolute_error", "bias"),
            columns=("level",),
            per=("axis",),
            label="estimator",
            terminal=True,
        ),
        Pivot(
            name="errors-by-learner",
            title=ESTIMATED,
            metrics=("absolute_error", "bias"),
            columns=("learner",),
            label="estimator",
        ),
        Pivot(name="learners", title=ESTIMATED, metrics=("accuracy",), columns=("images",)),
        Lines(
            name="estimates-by-level",
            title=ESTIMATED,
            metrics=("estimated_accuracy",),
            along="level",
            per=("learner", "axis"),
            truth="accuracy",
            note="Among all names, of all images, base and new: the mean of the cells at each level. Estimators were "
            "fitted on labelled images of base classes in the training appearance, and see no label here.",
        ),
        Pivot(
            name="accuracy-by-level",
            title=ESTIMATED,
            metrics=("accuracy",),
            columns=("level",),
            per=("axis",),
            folded=True,
        ),
        Pivot(
            name="estimated-by-level",
            title=ESTIMATED,
            metrics=("estimated_accuracy",),
            rows=("learner", ENTITY),
            columns=("level",),
            per=("axis",),
            folded=True,
        ),
        Pivot(name="accuracy-of-cells", title=ESTIMATED, metrics=("accuracy",), **CELL, folded=True),
        Pivot(
            name="estimated-of-cells",
            title=ESTIMATED,
            metrics=("estimated_accuracy",),
            **CELL,
            per=("learner",),
            folded=True,
        ),
        Pivot(
            name="open-world",
            title=OPEN,
            metrics=tuple(f"estimated_{part}" for part in OPEN_WORLD),
            rows=("learner", ENTITY),
            columns=("level",),
            per=WHERE,
            note="Without labels each estimate rests on a premise, which need not hold away from home.",
        ),
        Pivot(
            name="alarms",
            title=OPEN,
            metrics=("alarm",),
            columns=("level",),
            per=WHERE,
            note="The share of the seeds in which images score otherwise than base images at home.",
        ),
        Pivot(name="open-world-errors", label="estimator", title=OPEN, metrics=(*OFF,), per=("view",)),
        Pivot(name="open-world-bias", label="estimator", title=OPEN, metrics=(*BIAS,), per=("view",)),
        Lines(
            name="open-world-by-level",
            title=OPEN,
            metrics=(f"estimated_{AUC.key}",),
            along="level",
            per=("learner", *WHERE),
            truth=AUC.key,
            note="All images of the pool at each level of appearance, base and new.",
        ),
        Pivot(name="sides", title=HELD, metrics=("images",), columns=("side",), folded=True),
        Pivot(name="starts", title=HELD, metrics=("level_start",), rows=("axis",), columns=("level",), folded=True),
        Pivot(
            name="counts",
            title=HELD,
            metrics=("images",),
            columns=("level",),
            per=("axis",),
            folded=True,
            label="images",
        ),
        Pivot(name="counts-of-cells", title=HELD, metrics=("images",), **CELL, folded=True),
    ),
    ("view",),
)


def report(run: RunFolder) -> Report:
    """Return the report of a run."""
    results, facts = read_results(run)
    estimates = leaders("absolute_error", (), Brief(results, label="estimator")) if facts.estimators else ()
    brief = Brief(
        results,
        facts.baseline,
        subtitle=tuple(_subtitle(facts)),
        facts=tuple(_provenance(facts)),
        notes={"errors": " ".join(_warnings(facts))},
        sentences=(*estimates, "Degrees are those of one model, and levels are of this pool."),
        run=run,
    )
    return LAYOUT.report(brief)


def compare(first: Report, second: Report, metric: str) -> tuple[Pair, ...]:
    """Numbers over all images, and by level where both runs start their levels at the same degrees; no cells."""
    both = first.results, second.results
    ours, theirs = (list(results.where(metric=LEVEL_START.key)) for results in both)
    left_out = {"semantic_level"} if ours == theirs else {"semantic_level", "level"}
    kept = (replace(results, rows=tuple(row for row in results if not left_out & row.where.keys())) for results in both)
    return pair_results(*kept, metric)


def _warnings(facts: RecognitionShiftFacts) -> Iterator[str]:
    """A sentence per estimator that warned, with its first warning."""
    for name in facts.estimators:
        records = [record for records in facts.records.values() for record in records]
        estimates = [record.estimation.estimates[name] for record in records]
        warning = next((estimate.warning for estimate in estimates if estimate.warning), None)
        if warning:
            cells = sum(estimate.warned for estimate in estimates)
            yield f"{name} warned in {cells:,} cells of all learners and seeds; first: {warning}."


def _subtitle(facts: RecognitionShiftFacts) -> Iterator[str]:
    first = facts.first
    named = ([source.get("dataset"), source.get("domain")] for source in first.sources)
    sources = (", ".join(filter(None, parts)) for parts in named)
    yield f"tuned on {' + '.join(sources)}"
    yield f"{first.n_base_classes} base + {first.n_new_classes} new classes"
    if first.left_out:
        yield f"{len(first.left_out)} left out"
    records = [{"training_images": record.training_images} for runs in facts.records.values() for record in runs]
    yield shots_in_words(first.shots, training_images(records)) or "all images"
    yield f"seed{'s' * (len(facts.seeds) > 1)} {' '.join(map(str, facts.seeds))}"
    yield first.backbone


def _provenance(facts: RecognitionShiftFacts) -> Iterator[tuple[str, str]]:
    yield "seeds", " ".join(map(str, facts.seeds))
    yield "records", str(sum(map(len, facts.records.values())))
    yield "styles in the pool", ", ".join(facts.first.pool.styles)
