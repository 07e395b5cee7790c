"""What units leave of which nobody computed anything: facts and rows, for tests of what is made of them."""

from openworld.evaluations.rows import rows_of_unit
from openworld.results import METRICS, Result, Value
from openworld.runs import UnitResult


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
