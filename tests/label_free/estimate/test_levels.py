"""A stream with a column of levels: read among each level's names, as a curve with its numbers, and what is refused."""

import numpy as np
import pytest

import openworld as ow
from openworld import OpenworldError
from openworld.estimators import AC, Outputs
from openworld.estimators.by_level import among
from openworld.label_free.estimate.levels import COMPARISONS, OWN_NUMBERS, levels_of, read_scores
from openworld.metrics import robustness
from openworld.tables.files import scores_of
from openworld.testing._reports import _shows_every_number_once

CLASSES, N = 6, 120
LEVELS = {0.0: [0, 1, 2], 0.5: [0, 1, 2, 3], 1.0: [0, 1, 2, 3, 4, 5]}


def drawn(names, n, generator):
    """Logits with -inf for names that are not there, and labels that the softmax gives."""
    logits = np.full((n, CLASSES), -np.inf)
    logits[:, names] = 2 * generator.normal(size=(n, len(names)))
    share = np.exp(logits - logits.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    return logits, (share.cumsum(axis=1) < generator.random((n, 1))).sum(axis=1).clip(max=CLASSES - 1)


@pytest.fixture
def files():
    """A labelled source of the names of level 0, scored among all names, and a stream of three levels."""
    generator = np.random.default_rng(0)
    logits, labels = drawn(LEVELS[0.0], N, generator)
    logits[:, 3:] = generator.normal(size=(N, 3)) - 2
    source = {"logits": logits, "labels": labels, "reference": logits + generator.normal(size=logits.shape)}
    parts = [drawn(names, N, generator) for names in LEVELS.values()]
    stream = {
        "logits": np.concatenate([part[0] for part in parts]),
        "level": np.repeat(list(LEVELS), N),
        "id": np.tile(np.arange(N), 3),
        "labels": np.concatenate([part[1] for part in parts]),
    }
    stream["reference"] = stream["logits"] + 2 * generator.normal(size=stream["logits"].shape)
    return source, stream


def without(stream, *names):
    return {name: column for name, column in stream.items() if name not in names}


def curve(source, stream, **options):
    report = ow.estimate(source, stream, quiet=True, **{"levels": "level", "estimator": ["AC"]} | options)
    _shows_every_number_once(report)
    return report


def values(found, metric):
    return [row.value.value for row in found.results.where(metric=metric)]


def numbers(found):
    return [row for row in found.results if row.entity in found.methods and row.metric.key in OWN_NUMBERS]


def truth(found):
    return {row.metric.key: row.value.value for row in found.results.where(entity="truth")}


def test_the_numbers_are_those_of_the_curve_of_the_estimator_anchored_at_labels(files):
    source, stream = files
    found = curve(source, without(stream, "labels")).found
    fitted = AC().fit(Outputs(source["logits"], source["labels"]))
    rows = [stream["level"] == level for level in LEVELS]
    at = [fitted.estimate(Outputs(among(stream["logits"][own])), interval=False).accuracy for own in rows]
    home = (source["logits"][:, :3].argmax(axis=1) == source["labels"]).mean()
    expected = robustness(list(LEVELS), [home, *at[1:]])
    for name in ("auc", "worst_accuracy", "variation", "slope_variance", "initial_accuracy"):
        number = found.results.value("AC", name, images="target")
        assert number.value == pytest.approx(getattr(expected, name)), name
        assert number.over().low <= number.value <= number.over().high, name
    assert values(found, "unlabelled_accuracy") == [pytest.approx(at[0])] and not truth(found)
    assert values(found, "classes") == [3, 4, 6]


def test_labels_of_the_stream_are_only_compared_with(files):
    source, stream = files
    one, other = (curve(source, given).found for given in (stream, without(stream, "labels")))
    assert numbers(one) == numbers(other) and not truth(other)
    rows = [stream["level"] == level for level in LEVELS]
    true = [(stream["logits"][own].argmax(axis=1) == stream["labels"][own]).mean() for own in rows]
    assert truth(one)["auc"] == pytest.approx(robustness(list(LEVELS), true).auc)


@pytest.mark.parametrize("estimators", [(), ("FRAP",)])
def test_a_difference_to_zero_shot_is_never_quoted_without_labels(files, estimators):
    source, stream = files
    report = curve(source, stream, zero_shot="reference", estimator=estimators)
    rows = [row for row in report.results if row.metric.key in COMPARISONS]
    assert rows and all(row.value.value is None and "labels" in row.value.reason for row in rows)
    assert ("by construction" in report.text[-1]) == ("FRAP" in estimators)


def test_the_difference_to_zero_shot_is_bounded_by_the_names_that_differ(files):
    source, stream = files
    found = curve(source, stream, zero_shot="reference").found
    logits = stream["logits"]
    reference = np.where(np.isneginf(logits), -np.inf, stream["reference"])
    names = [table.argmax(axis=1) for table in (logits, reference)]
    gains = (names[0] == stream["labels"]).astype(int) - (names[1] == stream["labels"])
    by_level = [gains[stream["level"] == level].mean() for level in LEVELS]
    assert abs(np.dot([0.25, 0.5, 0.25], by_level)) <= values(found, "delta_auc_bound")[0]
    assert found.differing == len(set(stream["id"][names[0] != names[1]]))


@pytest.mark.parametrize(
    ("keys", "names", "at"),
    [
        ([0.2, 0.0, 1.0], ("0", "0.2", "1"), (0, 0.2, 1)),
        (["june", "may", "july"], ("june", "may", "july"), (1 / 3, 2 / 3, 1)),
        ([5, 1, 3], ("1", "3", "5"), (1 / 3, 2 / 3, 1)),
    ],
)
def test_levels_are_fractions_or_an_order(files, keys, names, at):
    _, stream = files
    stream |= {"level": np.repeat(keys, N), "logits": np.where(np.isneginf(stream["logits"]), -9, stream["logits"])}
    levels = levels_of(read_scores([scores_of(stream, "stream")], levels="level", title="stream"))
    assert tuple(level.name for level in levels) == names
    assert tuple(level.level for level in levels) == pytest.approx(at)


def test_a_stream_that_begins_later_is_anchored_at_the_source(files):
    source, stream = files
    later = stream["level"] > 0
    stream = {name: column[later] for name, column in stream.items()}
    found = curve(source, stream).found
    assert values(found, "true_accuracy")[0] == found.source.accuracy
    assert any("level 0 stands among 6 names and level 0.5 among 4" in warning for warning in found.warnings)
    assert not values(curve(source, without(stream, "labels")).found, "true_accuracy")
    assert found.levels == ("source", "0.5", "1") and values(found, "images")[:3] == [N, N, N]
    assert found.results.value("AC", "estimated_accuracy", level=0.0).value == pytest.approx(
        (source["logits"].argmax(axis=1) == source["labels"]).mean()
    )


@pytest.mark.parametrize("names", [False, True])
def test_images_without_a_label_count_as_unlabelled(files, names):
    source, stream = files
    classes = np.array([*"abcdef"])
    given = classes[source["labels"]] if names else source["labels"].astype(float)
    empty = "" if names else np.nan
    extra = {name: np.concatenate([column, column[:40]]) for name, column in source.items()}
    extra["labels"] = np.concatenate([given, np.full(40, empty)])
    stream = stream | {"labels": np.array([None, *classes[stream["labels"][1:]]])}
    named = {"classnames": classes} if names else {}
    found = curve(extra | named, (stream if names else without(stream, "labels")) | named).found
    assert numbers(found) == numbers(curve(source, without(stream, "labels")).found)
    assert found.source.n == N and not truth(found)


def broken(columns, name, place, value):
    column = columns[name].copy()
    column[place] = value
    return columns | {name: column}


REFUSED = {
    "has no labels": lambda source, stream: (without(source, "labels"), stream),
    "level": lambda source, stream: (source, without(stream, "level")),
    "level 0 of target: class 3": lambda source, stream: (source, broken(stream, "logits", slice(0, 3), 1.0)),
    "5 classes and source 6": lambda source, stream: (
        source,
        without(stream, "labels", "reference") | {"logits": stream["logits"][:, :5]},
    ),
    "above 0": lambda source, stream: (source, stream | {"level": np.zeros(3 * N), "logits": np.ones((3 * N, 6))}),
    "0 labelled images of source": lambda source, stream: (source | {"labels": np.full(N, 5)}, stream),
}
DO_NOT_GO = {
    "--chunks does not go with --levels": {"chunks": 3},
    "--by-class does not go with": {"by_class": True},
    "table of scores in target: 'partner_1'": {"zero_shot": "partner_1"},
    "GDE needs partners": {"estimator": ["GDE"]},
    "--model does not go with --levels": {"model": "embedded"},
    "--zero-shot came without --levels": {"levels": "", "zero_shot": "reference"},
}


@pytest.mark.parametrize("words", [*REFUSED, *DO_NOT_GO])
def test_what_will_not_do_is_refused(files, words):
    source, stream = REFUSED.get(words, lambda *same: same)(*files)
    with pytest.raises(OpenworldError, match=words):
        curve(source, stream, **DO_NOT_GO.get(words, {}))
