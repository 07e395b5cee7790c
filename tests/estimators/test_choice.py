"""Which estimate is quoted: the rules, one by one."""

from dataclasses import replace

import numpy as np
import pytest
from simulated import outputs

from openworld._errors import OpenworldError
from openworld.estimators import COTT, ESTIMATORS, FRAP, Estimate
from openworld.estimators.choice import RULES, choose


def found(accuracy=0.7, n=1000, mistakes=100, **details):
    error = None if accuracy is None else 1 - accuracy
    return Estimate.of(error, details={"n_target": n, "mistakes": mistakes} | details)


def all_of(**changes):
    return {name: found(**changes) for name in ESTIMATORS}


def test_rules_name_estimators():
    assert all(name in ESTIMATORS and why for name, _, why in RULES)


def test_a_reference_comes_first():
    assert choose(all_of(), 10).name == "FRAP"


def test_an_uninformative_reference_does_not():
    estimates = all_of() | {"FRAP": found(informative=False)}
    assert choose(estimates, 10).name == "COTT"


def test_frap_itself_says_so():
    source, target = outputs(0, 200, 4, 2.0), outputs(1, 200, 4, 1.0)
    for reference, name in ((source.reference, "FRAP"), (np.ones_like(source.logits), "COTT")):
        known = replace(source, reference=reference)
        said = {
            one.name: one.fit(known).estimate(replace(target, reference=reference), interval=False)
            for one in (FRAP(), COTT())
        }
        assert said["FRAP"].details["informative"] is (name == "FRAP")
        assert choose(said, 4).name == name


def test_without_a_reference():
    alone = {name: one for name, one in all_of().items() if name not in ("FRAP", "RAP")}
    assert choose(alone, 10).name == "COTT"


def test_few_mistakes_rule_out_thresholds():
    assert choose(all_of(mistakes=5), 10).name == "COT"
    assert choose(all_of(mistakes=5, n=20), 100).name == "AC"
    assert choose(all_of(mistakes=None), 10).name == "COT"


def test_what_has_no_accuracy_is_never_quoted():
    assert choose(all_of(accuracy=None), 10) is None
    assert choose({"IM": found(accuracy=None), "GDE": found()}, 10).name == "GDE"


def test_agreement_may_be_a_number_of_numpy():
    assert [choose(all_of(), 10, kept=np.float64(kept)).name for kept in (0.4, 0.6)] == ["COTT", "FRAP"]
    with pytest.raises(OpenworldError, match="kept"):
        choose(all_of(), 10, kept=float("nan"))
