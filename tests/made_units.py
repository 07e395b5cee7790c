"""What units leave of which nobody computed anything: facts and rows, for tests of what is made of them."""

from dataclasses import replace

from openworld.evaluations.recognition.outcome import ImageScores, Outcome
from openworld.evaluations.recognition_metrics import image_counts, recognition_rows
from openworld.evaluations.rows import ROWS, rows_of_unit
from openworld.results import METRICS, Result, Results, Value
from openworld.runs import UnitResult


def numbers(unit, **where):
    """{metric: value} of the rows of a record, or of what a unit gives, at exactly a place."""
    content = unit.attachments[ROWS] if isinstance(unit, UnitResult) else unit.attachment(ROWS)
    rows = Results.from_parquet(content)
    return {row.metric.key: row.value.value for row in rows if row.entity and row.where == where}


def find_comparison(comparisons, entity, other):
    """The test of one against the other, whichever way round it was made."""
    (test,) = (test for test in comparisons if {test.entity, test.other} == {entity, other})
    return test if test.entity == entity else test.reversed()


def recognition_outcome(images, rows=(), *, seconds=None, thumbnail=lambda _: None, classnames=(), **facts):
    """A learner with one seed by its table of images; `rows` take the place of what the table gives, or join it."""
    usual = {"learner": "GMoP", "seed": 1, "task": "things", "split": "as given", "train_domain": None}
    usual |= {"test_domain": None, "backbone": "embedded", "tuned_parameters": 512}
    usual |= {"n_base_classes": 1, "n_new_classes": 1, "classnames": classnames}
    facts = usual | facts
    own = {row.key: row for row in (*recognition_rows(images, facts["learner"]), *rows)}
    seeded = [replace(row, seeds=(facts["seed"],), per_seed=(row.value.value,)) for row in own.values()]
    tuned = facts["tuned_parameters"]
    shared = [] if tuned is None else [Result(facts["learner"], METRICS["tuned_parameters"], Value(tuned))]
    rows = (*image_counts(images), *shared, *seeded)
    return Outcome(facts, rows, ImageScores(images, classnames), thumbnail=thumbnail, seconds=seconds or {})


def dynamic_unit(learner, seed, courses, *, dataset, domain=None, outputs=None, timing=None, **facts):
    """A unit of dynamic scenarios.

    Args:
        courses: [(scenario, images that take over or None, views)] with views = {level: {metric: value or None}}.
    """
    images = f"{dataset}, {domain}" if domain else dataset
    rows, kept = [], []
    for scenario, target, views in courses:
        place = {"scenario": scenario, "images": images, "target": target}
        kept.append(place | {"views": [{"level": level} for level in views]})
        for level, numbers in views.items():
            where = {key: value for key, value in place.items() if value} | {"level": level}
            rows += [Result(learner, METRICS[key], Value(numbers[key], reason="one kind"), where) for key in numbers]
    about = {"protocol": "dynamic", "dataset": dataset, "domain": domain, "learner": learner, "seed": seed}
    about |= {"yardstick": learner == "zero-shot", "tuned_parameters": 512 * (learner != "zero-shot")}
    attachments = rows_of_unit("dynamic", rows, seed=seed)
    return UnitResult(outputs or {}, about | {"courses": kept} | facts, attachments, timing or {})
