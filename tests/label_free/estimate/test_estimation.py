"""A judgement from saved scores: what is asked, what is quoted, over time, class by class, and what is refused."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from simulated import outputs, save_scores

from openworld import OpenworldError
from openworld.core.console import ALERTED
from openworld.estimators import ESTIMATORS, Outputs, streaming
from openworld.label_free.estimate.command import estimate
from openworld.label_free.estimate.estimation import estimate_accuracy, fit_all
from openworld.label_free.estimate.reading import open_table
from openworld.label_free.settings import Settings
from openworld.tables import files as score_files
from openworld.tables.files import scores_of

WITH_REFERENCE = ["two-views", "FRAP", "RAP"]
NAMES = np.array(["ant", "bee", "cat", "dog"])
FAST = Settings(("AC",))
ALONE = ["COTT", "ATC-MC", "ATC-NE", "COT", "CBPE", "DoC", "AC", "IM", "ProjNorm"]


def save(path, data, **further):
    return open_table([save_scores(path, data, **further)])


KNOWN, NEW = 200, 300  # images of the usual source and target


def usual(partners=0):
    """A source, and a target that is named worse."""
    return outputs(0, KNOWN, 4, 2.0, partners), outputs(1, NEW, 4, 1.2, partners)


def make_pair(folder, partners=0, reference=True, labels=False, **further):
    """Tables of the usual source and target, the target's with further arrays."""
    source, other = usual(partners)
    if not reference:
        source, other = replace(source, reference=None), replace(other, reference=None)
    known = save(folder / "source.npz", source, classnames=NAMES)
    return known, save(folder / "target.npz", other if labels else replace(other, labels=None), **further)


@pytest.fixture
def pair(tmp_path):
    return partial(make_pair, tmp_path)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The estimate of the usual pair, by every method."""
    return estimate_accuracy(*make_pair(tmp_path_factory.mktemp("plain")))


@pytest.fixture(scope="module")
def cut(tmp_path_factory):
    """The same with partners, labels, an alert and three chunks, class by class."""
    pair = make_pair(tmp_path_factory.mktemp("cut"), labels=True, partners=2)
    return estimate_accuracy(*pair, Settings(chunk_rows=125, alert=0.9), by_class=True)


def test_all_that_the_scores_allow():
    def names(partners=0, **further):
        pair = (replace(outputs(seed, 200, 4, 2.0, partners), **further) for seed in (0, 1))
        return list(fit_all((), *pair))

    assert names(reference=None) == ALONE
    assert names(partners=2) == [*WITH_REFERENCE, *ALONE, "GDE", "ALine-S", "ALine-D"]
    assert names(partners=1)[-1] == "GDE"


def test_numbers_are_those_of_the_estimators(plain):
    found = plain
    source, target = usual()
    for one in found.methods:
        expected = ESTIMATORS[one.name]().fit(source).estimate(target)
        assert (one.accuracy, one.interval) == (expected.accuracy, expected.interval)
    assert found.source.accuracy == 1 - source.mistakes / KNOWN and found.target.accuracy is None
    agree = (target.reference.argmax(axis=1) == target.predictions).mean()
    assert found.agreement[1] == pytest.approx(agree)


def test_what_may_be_quoted(pair, tmp_path):
    known, _ = pair(reference=False)
    same = save(tmp_path / "same.npz", replace(outputs(5, 300, 4, 2.0), labels=None, reference=None))
    found = estimate_accuracy(known, same)
    assert found.quote.method == "DoC" and found.quote.low < found.source.accuracy < found.quote.high
    doc = next(one for one in found.methods if one.name == "DoC")
    assert doc.on_source[1] < doc.on_source[0] < doc.on_source[2]
    lost = save(tmp_path / "lost.npz", replace(outputs(5, 300, 4, 0.0), labels=None, reference=None))
    found = estimate_accuracy(known, lost, by_class=True)
    assert found.quote.accuracy is None and found.unknown == ("lost.npz",) and found.classes == ()
    assert any(one.startswith("nothing is estimated class by class") for one in found.warnings)
    assert found.quote.low < 0.4 < found.quote.high


def test_labels_of_the_target_are_only_compared_with(pair):
    true = 1 - usual()[1].mistakes / NEW
    bare, labelled = (estimate_accuracy(*pair(labels=labels), FAST) for labels in (False, True))
    assert labelled.methods == bare.methods and labelled.target.accuracy == true


def test_named_estimators_alone_and_the_first_is_quoted(pair):
    found = estimate_accuracy(*pair(), Settings(estimators=("DoC", "AC")))
    assert [one.name for one in found.methods] == ["DoC", "AC"] and found.quote.method == "DoC"
    first = found.methods[0]
    assert (found.quote.accuracy, (found.quote.low, found.quote.high)) == (first.accuracy, first.interval)


def test_what_the_reference_and_the_partner_know_is_said(pair, tmp_path):
    found = estimate_accuracy(*pair(partners=2), FAST)
    assert any(warning.startswith("the first partner names") for warning in found.warnings)
    one, other = usual()[0], replace(usual()[1], labels=None)
    copied = [save(tmp_path / f"{n}.npz", replace(each, reference=each.logits)) for n, each in enumerate((one, other))]
    found = estimate_accuracy(*copied)
    assert any("may not err independently" in warning for warning in found.warnings)
    assert found.quote.method != "two-views"
    source, target = save(tmp_path / "source.npz", one), save(tmp_path / "target.npz", replace(other, reference=None))
    assert "the target has no reference" in estimate_accuracy(source, target, FAST).warnings[0]


def test_columns_and_class_names_that_are_amiss_are_said(pair):
    known, target = pair(refrence=np.zeros(NEW), id=np.arange(NEW))
    said = "\n".join(estimate_accuracy(known, target, FAST).warnings)
    assert "columns of target.npz that were not used: refrence" in said
    assert "target.npz names no classes: they are taken" in said
    turned = estimate_accuracy(*pair(classnames=NAMES[::-1]), FAST)
    assert turned.warnings[-1].startswith("the classes of target.npz come in another order")
    assert "names no classes" not in "\n".join(turned.warnings)
    same = save(known.files[0].path.with_name("both.npz"), replace(usual()[0].take(slice(0, 100)), labels=None))
    assert "100 of 100 target images have the very scores" in estimate_accuracy(known, same, FAST).warnings[0]


def test_over_time(cut):
    chunks = [(one.label, one.n) for one in cut.chunks]
    assert chunks == [("1 to 125", 125), ("126 to 250", 125), ("251 to 300", 50)]
    source, target = usual(2)
    part = target.take(slice(125, 250))
    expected = ESTIMATORS["FRAP"]().fit(source).estimate(part, interval=False)
    assert cut.chunks[1].methods["FRAP"] == expected.accuracy
    assert cut.chunks[1].accuracy == 1 - part.mistakes / 125
    assert cut.false_alarms == 0.05 and cut.alarm is None
    for one in cut.chunks:
        assert one.alarm.counted == one.quote.tested is not None
        assert one.alarm.standing == (one.alarm.statistic > one.alarm.limit) == (one.label in cut.alerts)
        assert one.alarm.alone < one.alarm.lasting < 0.9


def test_an_alert_without_chunks_is_of_the_whole(pair):
    for alert, alerts in ((0.99, ("target.npz",)), (0.01, ())):
        assert estimate_accuracy(*pair(), Settings(("DoC",), alert=alert)).alerts == alerts


def test_chunks_like_the_source_raise_no_alarm_and_a_fall_does(tmp_path):
    """COTT says much too little of small sets, which is taken out; so does what is quoted by the rules."""
    source = save(tmp_path / "source.npz", replace(outputs(0, 400, 4, 2.0), reference=None, partners=()))
    healthy, fallen = outputs(2, 500, 4, 2.0), outputs(3, 200, 4, 0.4)
    both = Outputs(np.concatenate([healthy.logits, fallen.logits]))
    target = save(tmp_path / "target.npz", both)
    accuracy = 1 - healthy.mistakes / healthy.n
    for named in ((), ("COTT",)):
        found = estimate_accuracy(source, target, Settings(named, chunk_rows=100, alert=accuracy - 0.03))
        assert {one for one in found.alerts if int(one.split(" ")[0]) < 500} == set()
        assert "601 to 700" in found.alerts
        assert found.chunks[0].alarm.statistic == 0  # nothing is summed up before the first chunk


def test_a_shift_alarm_ends_a_call_with_its_code_beside_an_alert_alone():
    source, other = outputs(0, 300, 4, 2.0), outputs(1, 800, 4, 1.2)
    rare = other.take(np.flatnonzero(other.predictions < 2))
    files = (
        [scores_of({"logits": source.logits, "labels": source.labels}, "a")],
        [scores_of({"logits": rare.logits}, "b")],
    )
    answers = [estimate(*files, estimator=("AC",), chunk_rows=200, **more) for more in ({}, {"alert": 0.01})]
    assert all(answer.found.shift_alerts and not answer.found.alerts for answer in answers)
    assert [answer.ending.exit_code for answer in answers] == [0, ALERTED]


def test_a_single_image_is_answered_and_asks_for_no_worksheet():
    source, target = outputs(0, 300, 5, 2.0), outputs(1, 1, 5, 2.0)
    columns = {"logits": source.logits, "labels": source.labels}
    answer = estimate([scores_of(columns, "a")], [scores_of({"logits": target.logits}, "b")])
    assert answer.found.quote.accuracy is None and answer.found.worksheet == 0
    assert "labels-to-make.csv" not in answer.files


def against(pair, **columns):
    """Estimate of a target with these columns."""
    (source,) = pair()[0].files
    np.savez(source.path.with_name("odd.npz"), **columns)
    return estimate_accuracy(pair()[0], open_table([source.path.with_name("odd.npz")]))


REFUSED = {
    "GDE needs other models' scores on both sides": lambda pair: estimate_accuracy(*pair(), Settings(("GDE",))),
    "RAP needs another model's scores on both sides": lambda pair: estimate_accuracy(
        *pair(reference=False), Settings(("RAP",))
    ),
    "target.npz has no labels; the source must say": lambda pair: estimate_accuracy(*pair()[::-1]),
    "MaNo orders sets by accuracy and gives none": lambda _: Settings(("MaNo",)),
    "unknown estimator 'COTTT'; did you mean 'COTT'": lambda _: Settings(("COTTT",)),
    "--other-shares .* --estimator": lambda _: Settings(("DoC",), shares="other"),
    "alert is 80.0, expected a fraction from 0 to 1: 80 is 8000 %": lambda _: Settings(alert=80),
    "false_alarms is 5.0, expected a number from 0.001 to 0.5": lambda _: Settings(alert=0.8, false_alarms=5.0),
    "odd.npz has 5 classes and the source 4": lambda pair: against(pair, logits=np.eye(5)),
    "2 are in one of the two alone, first 'dog'": lambda pair: against(
        pair, logits=np.eye(4), classnames=np.array(["ant", "bee", "cat", "eel"])
    ),
    "odd.npz holds no image": lambda pair: against(pair, logits=np.empty((0, 4))),
    "exclude one another": lambda _: estimate(["a.npz"], ["b.npz"], same_shares=True, other_shares=True),
    "--false-alarms is the rate of false alarms of --alert": lambda _: estimate(["a.npz"], ["b.npz"], false_alarms=0.1),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_does_not_go_together_is_refused(pair, words):
    with pytest.raises(OpenworldError, match=words):
        REFUSED[words](pair)


def test_class_by_class(pair):
    found = estimate_accuracy(*pair(), Settings(("FRAP",)), by_class=True)
    assert [one.name for one in found.classes] == NAMES.tolist() and found.quote.method == "FRAP"
    assert sum(one.predicted for one in found.classes) == NEW
    right = sum(one.predicted * one.accuracy for one in found.classes)
    assert right / NEW == pytest.approx(found.quote.accuracy)
    assert sum(one.expected for one in found.classes) == pytest.approx(NEW)
    found = estimate_accuracy(*pair(), Settings(estimators=("ProjNorm",)), by_class=True)
    assert found.classes == () and found.quote.method == "ProjNorm"
    other = estimate_accuracy(*pair(), Settings(shares="other"), by_class=True)
    assert other.quote.method == "class shares" and len(other.classes) == 4
    expected = sum(one.predicted * one.accuracy for one in other.classes if one.accuracy is not None)
    assert expected / other.class_images == pytest.approx(other.quote.accuracy, abs=1e-6)
    assert any("ProjNorm says nothing of single images" in one for one in found.warnings)


def test_a_large_target_is_read_in_blocks(pair, monkeypatch):
    monkeypatch.setattr(streaming, "ROWS", 150)
    monkeypatch.setattr(score_files, "NUMBERS", 400)
    heard, exact = [], ("AC", "ATC-NE", "ATC-MC", "DoC")
    found = estimate_accuracy(*pair(), Settings(exact), lambda doing, done: heard.append((doing, done)))
    for method in found.methods:
        assert method.sampled == 150 and method.details["n_target"] == NEW
    assert ("estimating", NEW) in heard and ("reading the target", NEW) in heard
    assert "of 200 source images a uniform sample of 150 is used" in found.warnings


def test_cbpe_is_usual_with_fifty_source_images_a_class_or_by_name(pair, tmp_path):
    _, target = pair()
    for n, usual in ((200, True), (196, False)):
        source = outputs(0, n, 4, 2.0)
        assert ("CBPE" in fit_all((), source, outputs(1, 60, 4, 1.2))) == usual
    source = save(tmp_path / "few.npz", source)
    (found,) = estimate_accuracy(source, target, Settings(estimators=("CBPE",))).methods
    assert any("196 source images, 49.0 a class" in warning for warning in found.warnings)


def test_logits_of_which_some_are_a_softmax(pair, tmp_path):
    source, _ = pair()
    one = outputs(1, 200, 4, 1.2).logits
    softmax = np.exp(one) / np.exp(one).sum(axis=1, keepdims=True)
    for rows, words in ((200, "all rows"), (20, "20 of 200 rows")):
        mixed = np.concatenate([softmax[:rows], one[rows:]]).astype(np.float32)
        np.savez(tmp_path / "mixed.npz", logits=mixed)
        with pytest.raises(OpenworldError, match=f"logits of mixed.npz are probabilities: {words}"):
            estimate_accuracy(source, open_table([tmp_path / "mixed.npz"]))
    np.savez(tmp_path / "mixed.npz", logits=one, reference=softmax, partner_1=softmax)  # only those of the judged model
    assert estimate_accuracy(source, open_table([tmp_path / "mixed.npz"]), FAST).methods
