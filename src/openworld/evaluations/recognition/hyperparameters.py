"""Settings chosen on validation images of base classes: test images, and new classes, choose nothing.

The base classes are cut into a pseudo base and a pseudo new half. Every candidate is fitted on the shots of the pseudo
base half and judged by its OpenworldAUC on validation images of both; the best (the first, among equals) is kept.
"""

from itertools import product

from openworld.evaluations.learning import fit
from openworld.evaluations.recognition_metrics import recognition_metrics, score
from openworld.evaluations.runtime import Machine
from openworld.features import Features
from openworld.learners import override


def choose_settings(task, machine: Machine, shots: Features, validation: Features) -> tuple[dict, list[dict]]:
    """Return the settings of the best candidate, and what every candidate reached.

    Args:
        task: whose learner has its settings written out, and candidates under `choose`.
        machine: where candidates are fitted.
        shots, validation: features of the base classes.

    Returns:
        (settings whole, [{"candidate": {key: value}, "openworld_auc": in [0, 1]}, ...] in the order tried).

    Raises:
        OpenworldError: fewer than two base classes, or too few pseudo base classes for a candidate.
    """
    pseudo_base = shots.of_classes(shots.split.base)
    entry, trail = task.learner, []
    for values in product(*entry.choose.values()):
        candidate = dict(zip(entry.choose, values, strict=True))
        fitted = fit(task, pseudo_base, machine, override(entry.settings, candidate))
        value = recognition_metrics(score(fitted, validation))["openworld_auc"]["value"]
        trail.append({"candidate": candidate, "openworld_auc": value})
    best = max(trail, key=lambda tried: tried["openworld_auc"])
    return override(entry.settings, best["candidate"]), trail
