"""scikit-learn's classifiers as judged models and references, for the worlds of tables, texts, sounds and patches.

A margin is a logit as it is; of a naive Bayes the logarithms of its probabilities, of a network its last layer; shares
of votes, of trees or neighbours, are smoothed and written as logarithms.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pool import Judged, Reader
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline


def judged(recipe: Callable[[int], Any], inputs, labels: NDArray, seed: int, features: Callable = np.asarray) -> Judged:
    """Return a fitted recipe, and its kin: another seed, on a bootstrap of the same inputs."""
    rows = features(inputs)
    again = np.random.default_rng([seed, 3]).choice(len(labels), len(labels))
    model, kin = recipe(seed), recipe(seed + 1_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows, labels)
        kin.fit(rows[again], labels[again])
    is_network = isinstance(model[-1] if isinstance(model, Pipeline) else model, MLPClassifier)
    embedding = (lambda others: hidden(model, features(others))) if is_network else None
    return Judged(reader(model, features), reader(kin, features), embedding)


def reader(model, features: Callable = np.asarray) -> Reader:
    """Return a fitted classifier as a function of what `features` reads."""
    return lambda inputs: logits(model, features(inputs))


def logits(model, rows) -> NDArray:
    """Return float[n, C] of a fitted classifier, of two classes too."""
    if isinstance(model, Pipeline):
        return logits(model[-1], model[:-1].transform(rows))
    if isinstance(model, MLPClassifier):
        scores = hidden(model, rows) @ model.coefs_[-1] + model.intercepts_[-1]
    elif hasattr(model, "decision_function"):
        scores = model.decision_function(rows).reshape(rows.shape[0], -1)
    elif hasattr(model, "predict_joint_log_proba"):
        scores = model.predict_log_proba(rows)
    else:
        votes = model.n_estimators if hasattr(model, "n_estimators") else model.n_neighbors
        scores = smoothed_logs(model.predict_proba(rows), votes)
    return scores if scores.shape[1] > 1 else np.hstack([np.zeros_like(scores), scores])


def hidden(model, rows) -> NDArray:
    """Return float[n, D]: the last hidden layer of a network."""
    if isinstance(model, Pipeline):
        return hidden(model[-1], model[:-1].transform(rows))
    for weights, shift in zip(model.coefs_[:-1], model.intercepts_[:-1], strict=True):
        rows = np.maximum(rows @ weights + shift, 0)
    return np.asarray(rows)


def smoothed_logs(shares: NDArray, votes: int) -> NDArray:
    """Return the logarithms of shares of votes, with a tenth of a vote more for every class."""
    return np.log((shares * votes + 0.1) / (votes + 0.1 * shares.shape[1]))
