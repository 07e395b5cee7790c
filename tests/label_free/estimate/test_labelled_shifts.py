"""Labelled shifts in a judgement: when they decide, how they are read, and which are refused."""

from dataclasses import replace

import numpy as np
import pytest
from simulated import outputs, save_scores

from openworld import OpenworldError
from openworld.label_free.estimate import estimation
from openworld.label_free.estimate.estimation import estimate_accuracy
from openworld.label_free.estimate.quotes import DECIDING
from openworld.label_free.estimate.reading import NamedShift, named_shift, open_table
from openworld.label_free.estimate.verdict import sentences
from openworld.label_free.settings import Settings
from openworld.runs import to_json

NAMES = np.array(["ant", "bee", "cat", "dog"])
FAMILIES = ("noise", "blur", "fog")


def model(seed, lost, n=500):
    """A model that loses more than it is aware of; `lost` in 0 to 1."""
    found = outputs(seed, n, 4, 2.4 - 1.6 * lost)
    return replace(found, logits=(1 - 0.2 * lost) * found.logits)


def save(path, data, reference=False, **further):
    return open_table([save_scores(path, data if reference else replace(data, reference=None), **further)])


def shift(family, path, data, **further):
    save(path, data, **further)
    return NamedShift(family, str(path))


@pytest.fixture(scope="module", autouse=True)
def few_estimators():
    """Those on which a quote rests, and one beside them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(estimation, "USUAL", (*DECIDING, "AC"))
        yield


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Source, a target that has lost much, and four labelled shifts of each of three families."""
    tmp_path = tmp_path_factory.mktemp("tables")
    target = replace(model(99, 1.0, 600), labels=None)
    labelled = [
        shift(family, tmp_path / f"{family}-{place}.npz", model(10 * seed + place, place / 3.2))
        for seed, family in enumerate(FAMILIES, 1)
        for place in (1, 2, 3, 4)
    ]
    source = save(tmp_path / "source.npz", model(0, 0.0, 800), classnames=NAMES)
    return source, save(tmp_path / "target.npz", target), labelled


@pytest.fixture(scope="module")
def plain(tables):
    """The estimate without labelled shifts."""
    return estimate_accuracy(*tables[:2])


@pytest.fixture(scope="module")
def learned(tables):
    """The estimate with all labelled shifts."""
    source, target, labelled = tables
    return estimate_accuracy(source, target, labelled=labelled)


TRUE = 1 - model(99, 1.0, 600).mistakes / 600


def test_where_the_rules_cannot_tell_labelled_shifts_may(plain, learned):
    assert plain.quote.accuracy is None
    found = learned
    assert found.quote.accuracy == pytest.approx(TRUE, abs=0.06) and found.quote.low <= TRUE <= found.quote.high
    assert "12 labelled sets of 3 families" in found.quote.why and found.quote.signs is not None
    assert found.quote.method == found.learned.estimator
    assert sum("12 labelled sets" in sentence for sentence in sentences(found)) == 1
    assert [(one.name, one.family) for one in found.learned.left_out][0] == ("noise-1.npz", "noise")
    left_out = to_json(found)["learned"]["left_out"]
    assert len(left_out) == 12 and set(left_out[0]) >= {"family", "accuracy", "estimated", "n"}


def test_where_no_shift_is_seen_the_number_stays_and_its_interval_covers_what_was_learned(tables, tmp_path):
    source, _, labelled = tables
    target = save(tmp_path / "same.npz", replace(model(77, 0.0, 600), labels=None))
    plain, found = estimate_accuracy(source, target), estimate_accuracy(source, target, labelled=labelled)
    assert (found.quote.accuracy, found.quote.why) == (plain.quote.accuracy, plain.quote.why)
    learned = found.learned_quote
    assert found.quote.low == min(plain.quote.low, learned.low) and found.quote.high > plain.quote.high
    assert found.quote.high == max(plain.quote.high, learned.high)
    assert any("Labelled shifts say" in one for one in sentences(found))


def test_corruptions_are_shown_and_do_not_decide(tables, plain):
    source, target, labelled = tables
    artificial = [replace(one, artificial=True) for one in labelled]
    found = estimate_accuracy(source, target, labelled=artificial)
    assert (found.quote.accuracy, found.quote.low) == (plain.quote.accuracy, plain.quote.low)
    assert found.learned.artificial and found.learned_quote != found.quote
    assert any("Corrupted copies" in one or "labelled shifts are no help" in one for one in sentences(found))


def test_what_was_not_learned_leaves_the_rules_as_they_are(tables, tmp_path):
    source, _, labelled = tables
    target = save(tmp_path / "worse.npz", replace(model(98, 1.2, 600), labels=None))
    mild = [one for one in labelled if one.place.endswith(("1.npz", "2.npz"))]
    plain, found = estimate_accuracy(source, target), estimate_accuracy(source, target, labelled=mild)
    assert found.quote.accuracy is None and "lowest labelled set" in found.learned_quote.why
    assert found.quote == plain.quote and any("lowest labelled set" in one for one in sentences(found))


def test_every_span_is_corrected_and_an_alert_tests_the_least_reading_whatever_was_learned(tables):
    source, target, labelled = tables
    named = estimate_accuracy(source, target, Settings(("COT", "AC")), labelled=labelled)  # the candidates
    assert set(named.learned.powers) == {"COT", "AC"} and named.quote.method == named.learned.estimator
    found = estimate_accuracy(source, target, Settings(chunks=2, alert=0.8), labelled=labelled)
    assert [one.quote.accuracy for one in found.chunks] == pytest.approx([TRUE, TRUE], abs=0.08)
    assert all(one.alarm.counted == one.quote.tested != one.quote.accuracy for one in found.chunks) and found.alerts


def test_two_views_are_a_candidate_where_every_set_has_a_reference(tables, tmp_path):
    _, _, labelled = tables
    source = save(tmp_path / "with.npz", model(0, 0.0, 800), reference=True, classnames=NAMES)
    target = save(tmp_path / "seen.npz", replace(model(99, 1.0, 300), labels=None), reference=True)
    sets = [model(50 + place, place % 4 / 3.2) for place in range(6)]
    seen = [
        shift(FAMILIES[place % 3], tmp_path / f"{place}.npz", data, reference=True) for place, data in enumerate(sets)
    ]
    assert "two-views" in estimate_accuracy(source, target, labelled=seen).learned.powers
    assert "two-views" not in estimate_accuracy(source, target, labelled=[*seen[:-1], labelled[-1]]).learned.powers


def test_classes_are_put_in_order_by_name(tables, learned, tmp_path):
    source, target, labelled = tables
    first = model(11, 1 / 3.2)
    backwards = replace(first, logits=first.logits[:, ::-1], labels=3 - first.labels)
    turned = shift("noise", tmp_path / "noise-1.npz", backwards, classnames=NAMES[::-1])
    again = estimate_accuracy(source, target, labelled=[turned, *labelled[1:]])
    assert again.quote == learned.quote


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda one: replace(one, labels=None), "odd.npz has no labels"),
        (lambda one: outputs(5, 40, 5), "odd.npz is .*expected a number for each of 4 names"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(tables, tmp_path, change, words):
    source, target, labelled = tables
    odd = shift("odd", tmp_path / "odd.npz", change(model(5, 0.3)))
    with pytest.raises(OpenworldError, match=words):
        estimate_accuracy(source, target, labelled=[*labelled, odd])
    with pytest.raises(OpenworldError, match="3 families"):
        estimate_accuracy(source, target, labelled=labelled[:8])


def test_half_a_name_is_refused_and_a_file_with_an_equals_sign_in_its_name_is_a_file(tmp_path):
    for given in ("=a.npz", "fog=", "="):
        with pytest.raises(OpenworldError, match="FAMILY=FILE"):
            named_shift(given)
    (tmp_path / "a=b.npz").touch()
    found = named_shift(str(tmp_path / "a=b.npz"))
    assert (found.family, found.place) == ("a=b", str(tmp_path / "a=b.npz"))
