"""The verdict follows the tests: it praises where they show something, and says so where they do not."""

import re
from dataclasses import replace

from openworld.evaluations.recognition.results import join
from openworld.evaluations.recognition.verdict import verdict

EQUAL = (1.0, 0.4, 1.1, 512)
NAMES = [f"thing {number}" for number in range(40)]


def sentences_of(results):
    sentences = verdict(results)
    assert len(sentences) == 3
    assert all(re.match(r"\w.*\.$", sentence) and ". " not in sentence for sentence in sentences)
    return [sentence.replace("\u00a0", " ") for sentence in sentences]


def test_a_clear_leader_is_named_with_its_interval(results_of):
    learners = {"zero-shot": (0.0, 0.0, 0.6, 0), "GMoP": (2.0, 1.5, 1.8, 6656)}
    leader, baseline, evidence = sentences_of(results_of(learners=learners, names=NAMES))
    assert re.match(r"GMoP has the highest OpenworldAUC on .*\[.*\], and is better than zero-shot \(p < .001\)", leader)
    assert "GMoP (+" in baseline and "is better" in baseline
    assert "200 base and 200 new images of 40 drawings and on 3 seeds (GMoP comes first in 3 of them)" in evidence


def test_nobody_is_praised_where_nothing_differs(results_of):
    learners = {"one": EQUAL, "two": EQUAL, "three": EQUAL}
    leader, loss, _ = sentences_of(results_of(learners=learners, names=NAMES[:12], per_class=4))
    assert "not shown to differ from any of the 2 others" in leader and "better" not in leader
    assert loss.startswith("Of the ")


def test_equal_learners_share_the_first_place(results_of):
    found = results_of(learners={"zero-shot": (0.0, 0.0, 0.6, 0), "GMoP": (2.0, 1.5, 1.8, 512)}, names=NAMES)
    twins = [replace(one, record=replace(one.record, learner="twin")) for one in found.settings[0].outcomes["GMoP"]]
    leader, _, evidence = sentences_of(join((*found.outcomes, *twins)))
    assert re.match(r"GMoP and twin share the highest .* the same to the last digit, and are better than", leader)
    assert "comes first in none and shares the first place in 3 of them" in evidence


def test_losing_against_the_untuned_is_said(results_of):
    learners = {"zero-shot": (1.5, 1.5, 1.8, 0), "CoOp": (0.0, -1.0, 0.3, 512)}
    leader, baseline, _ = sentences_of(results_of(learners=learners, names=NAMES))
    assert leader.startswith("zero-shot has the highest") and re.search(r"CoOp \(−[\d.]+\) is worse", baseline)


def test_one_learner_alone_is_compared_with_nothing(results_of):
    leader, loss, evidence = sentences_of(results_of(learners={"GMoP": EQUAL}, seeds=(1,), names=NAMES[:12]))
    assert "nothing was run beside it" in leader and "largest part" in loss
    assert "on 1 seed; intervals are" in evidence


def test_several_settings_are_described_by_counts(results_of):
    learners = {"zero-shot": (0.0, 0.0, 0.6, 0), "GMoP": (2.0, 1.5, 1.8, 6656)}
    leader, baseline, evidence = sentences_of(results_of(learners=learners, names=NAMES, seeds=(1,), tasks=("a", "b")))
    assert (
        leader.startswith("Over 2 data sets GMoP has the highest mean")
        and "better than every other learner in 2" in leader
    )
    assert baseline == "Against zero-shot, which tunes nothing, GMoP is better in all 2 settings."
    assert evidence.startswith("Each setting rests on 400 images of 40 drawings and on 1 seed;")


def test_what_tunes_nothing_may_lead_over_several_settings(results_of):
    learners = {"zero-shot": (1.5, 1.5, 1.8, 0), "CoOp": (0.0, -1.0, 0.3, 512)}
    leader, baseline, _ = sentences_of(results_of(learners=learners, names=NAMES, seeds=(1,), tasks=("a", "b")))
    assert leader.startswith("Over 2 data sets zero-shot")
    assert baseline == "It tunes nothing, and in no setting a tuned learner is shown to be better."


def test_a_sweep_over_shots_is_described_by_its_largest(results_of):
    def with_shots(count, base):
        learners = {"zero-shot": (0.5, 0.5, 1.0, 0), "GMoP": (base, base, 1.5, 512)}
        (one,) = results_of(learners=learners, names=NAMES, seeds=(1,)).settings
        outcomes = [outcome for own in one.outcomes.values() for outcome in own]
        return [replace(outcome, record=replace(outcome.record, shots=count)) for outcome in outcomes]

    shots = {16: 2.0, 1: -1.0, 2: -1.0, 4: 1.5}
    swept = join([one for count, base in shots.items() for one in with_shots(count, base)])
    leader, baseline, evidence = sentences_of(swept)
    assert leader.startswith("GMoP has the highest OpenworldAUC on emoji-concepts with 16 shots, ")
    assert "GMoP (+" in baseline
    assert baseline.endswith(
        "; with fewer shots shown to be better than all others: zero-shot (with 1 and 2) and GMoP (with 4)."
    )
    assert evidence.startswith("This rests on 200 base")
