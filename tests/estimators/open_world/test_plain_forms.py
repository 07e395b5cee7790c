"""Every estimator gives what its formula gives, written out in loops."""

import numpy as np
import plain_open_world as plain
import pytest

from openworld.estimators.open_world import (
    NUMBERS,
    Hybrid,
    Mixture,
    OpenWorldOutputs,
    OwnNames,
    PositiveUnlabelled,
    ThirdModel,
    Thresholded,
    two_shares,
)
from openworld.testing import small_open_world

THETA = ("openworld_auc", "base_accuracy", "new_accuracy", "auroc", "new_share")
BASE = 4


def with_ties(outputs):
    """The same with scores of two digits, some of which are equal."""
    return OpenWorldOutputs(
        outputs.scores.round(1), logits=outputs.logits, n_base=BASE, labels=outputs.labels, reference=outputs.reference
    )


@pytest.fixture(scope="module")
def streams():
    return with_ties(small_open_world(3, 60, 0)), with_ties(small_open_world(12, 70, 0.4))


@pytest.fixture(scope="module")
def learned(streams):
    validation, _ = streams
    rows, labels = validation.base_logits.tolist(), validation.labels.tolist()
    t = plain.temperature(rows, labels)
    of_reference = plain.temperature(validation.reference[:, :BASE].tolist(), labels)
    return t, plain.threshold(rows, labels, t), of_reference


def confidences(rows, t):
    return [max(plain.softmax(row, t)) for row in rows.tolist()]


def base_mass(rows, t):
    return [sum(plain.softmax(row, t)[:BASE]) for row in rows.tolist()]


def estimated(estimator, streams):
    found = estimator.fit(streams[0]).estimate(streams[1])
    return [getattr(found, name) for name in THETA]


def joined(stream, base, named_base, named_new):
    rights = [z * q for z, q in zip(base, named_base, strict=True)]
    new_rights = [(1 - z) * q for z, q in zip(base, named_new, strict=True)]
    return plain.open_world_numbers(stream.scores.tolist(), rights, new_rights, base)


def test_own(streams, learned):
    stream, t = streams[1], learned[0]
    _, base = plain.em_share(base_mass(stream.logits, t))
    names = confidences(stream.base_logits, t), confidences(stream.new_logits, t)
    assert estimated(OwnNames(), streams) == pytest.approx(joined(stream, base, *names), abs=1e-6)


def test_thresholded(streams, learned):
    stream, (t, least, _) = streams[1], learned
    names = ([float(one >= least) for one in confidences(part, t)] for part in (stream.base_logits, stream.new_logits))
    expected = joined(stream, base_mass(stream.logits, t), *names)
    assert estimated(Thresholded(), streams) == pytest.approx(expected, abs=1e-6)


def test_mixture(streams):
    scores = [outputs.scores.tolist() for outputs in streams]
    share = plain.best_bin(*scores)
    wins = np.mean([plain.beats(one, other) for one in scores[0] for other in scores[1]])
    found = Mixture().fit(streams[0]).estimate(streams[1])
    assert found.new_share == pytest.approx(1 - share, abs=1e-12)
    assert found.auroc == pytest.approx(min(1, (wins - share / 2) / (1 - share)), abs=1e-12)


def test_hybrid(streams, learned):
    (validation, stream), (t, least, _) = streams, learned
    scores = validation.scores.tolist(), stream.scores.tolist()
    share = plain.best_bin(*scores)
    edges = sorted({*np.quantile(np.array(scores[0] + scores[1]), np.arange(1, 15) / 15)})
    base = plain.base_by_score(*scores, share, edges)
    names = ([float(one >= least) for one in confidences(part, t)] for part in (stream.base_logits, stream.new_logits))
    expected = [*joined(stream, base, *names)[:4], 1 - share]
    assert estimated(Hybrid(), streams) == pytest.approx(expected, abs=1e-6)


def test_a_third_model(streams, learned):
    stream, t = streams[1], learned[2]
    posterior = [plain.softmax(row, t) for row in stream.reference.tolist()]
    rights = [q[name] for q, name in zip(posterior, stream.base_prediction, strict=True)]
    new_rights = [q[name] for q, name in zip(posterior, stream.new_prediction, strict=True)]
    base = base_mass(stream.reference, t)
    expected = plain.open_world_numbers(stream.scores.tolist(), rights, new_rights, base)
    assert estimated(ThirdModel(), streams) == pytest.approx(expected, abs=1e-6)


def test_positive_unlabelled(streams, learned):
    (validation, stream), t = streams, learned[2]
    share, _ = plain.em_share(base_mass(stream.reference, t))

    def new_right(outputs):
        names = (outputs.new_prediction - BASE).tolist()
        rows = outputs.reference[:, BASE:].tolist()
        return [plain.softmax(row, t)[name] for row, name in zip(rows, names, strict=True)]

    right = validation.base_right.astype(float).tolist()
    theta, new, area = plain.positive_unlabelled(
        validation.scores.tolist(), right, new_right(validation), stream.scores.tolist(), new_right(stream), share
    )
    expected = [theta, np.mean(right), new, area, 1 - share]
    assert estimated(PositiveUnlabelled(), streams) == pytest.approx(np.clip(expected, 0, 1).tolist(), abs=1e-6)


def test_two_shares(streams, learned):
    validation, stream = streams
    found = two_shares(validation, stream)
    share, _ = plain.em_share(base_mass(stream.reference, learned[2]))
    assert found.by_posterior == pytest.approx(1 - share, abs=1e-6)
    assert found.by_best_bin == pytest.approx(1 - plain.best_bin(validation.scores.tolist(), stream.scores.tolist()))
    assert found.gap == abs(found.by_posterior - found.by_best_bin)
    sure = [confidences(outputs.reference, learned[2]) for outputs in (stream, validation)]
    assert found.confidence_moved == pytest.approx(sum(sure[0]) / 70 - sum(sure[1]) / 60, abs=1e-6)
    error = sum(np.std(part) ** 2 / len(part) for part in sure) ** 0.5
    assert found.confidence_error == pytest.approx(error, abs=1e-6)


def test_positive_unlabelled_is_exact_where_the_stream_holds_the_validation_images():
    """With the true share and certain names the base images cancel one by one, whatever their law."""
    base, new = small_open_world(5, 80, 0), small_open_world(6, 60, 1.0)
    logits = np.concatenate([base.logits, new.logits])
    labels = np.concatenate([base.labels, new.labels])
    sure = 60.0 * np.eye(7)[labels]  # the reference knows every class
    validation = OpenWorldOutputs(logits=base.logits, n_base=BASE, labels=base.labels, reference=sure[:80])
    stream = OpenWorldOutputs(logits=logits, n_base=BASE, reference=sure)
    found = PositiveUnlabelled().fit(validation).estimate(stream)
    wins = np.mean([plain.beats(one, other) for one in base.scores for other in new.scores])
    named = np.mean(new.new_prediction == new.labels)
    assert found.new_share == pytest.approx(60 / 140, abs=1e-6)
    assert found.auroc == pytest.approx(wins, abs=0.02)  # a base image meets itself in the stream
    assert len(NUMBERS) == 6 and 0 < named < 1
