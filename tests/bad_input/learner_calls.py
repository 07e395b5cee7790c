"""The settings of every learner, and the functions of `openworld.learners` that need no training."""

from generated import generated

from openworld import learners
from openworld.learners import LEARNERS, CoOp, NameSets, Schedule

SENTENCES = ("template", "templates", "behind", "words")


def settings(learner):
    return generated(learner, free=[name for name in SENTENCES if name == "words"])


CALLS = {learner.__name__: settings(learner) for learner in LEARNERS.values()}
CALLS |= {
    "Schedule": generated(Schedule),
    "NameSets": generated(NameSets, {"base": ("cat", "dog"), "new": ("owl",), "training": ("cat",)}),
    "configure": generated(
        learners.configure,
        {"learner": CoOp, "settings": {"schedule.epochs": 3}, "dataset": "dtd"},
        free=("dataset",),
        like_taken=[("settings", "empty mapping")],
    ),
    "encoding_for": generated(learners.encoding_for, {"learner": CoOp()}),
    "find_learner": generated(learners.find_learner, {"name": "CoOp"}),
    "origin": generated(learners.origin, {"name": "CoOp"}, free=("name",)),
    "override": generated(
        learners.override, {"given": {"epochs": 3}, "changes": {"epochs": 4}}, free=("given", "changes")
    ),
}
RESULTS = frozenset({"Answer", "FittedLearner", "Guess", "Images", "Prediction", "TextBank"})
"""Classes that functions return; nobody makes them by hand."""
ELSEWHERE = {
    "Loop": "what a learner says of its own training, in tests/learners/engine/test_training.py",
    "PublishedSetting": "an annotation",
    "all_learners": "no argument",
    "broken_plugins": "no argument",
    "fit_together": "a backbone and images, in the contract suite",
    "load": "a backbone and a saved learner, in the contract suite",
    "predict": "a fitted learner, in tests/learners/engine",
}
