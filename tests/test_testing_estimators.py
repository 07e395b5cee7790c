"""The contract suite for estimators of other packages: it passes the example, and catches broken promises."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from openworld.estimators import AC, ESTIMATORS, Estimate, Outputs
from openworld.estimators.plugin_api import FittedEstimator, RawEstimate, SourceSummary
from openworld.testing import check_estimator

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "plug_in_estimator"
sys.path.append(str(EXAMPLE))

from margin import Margin  # noqa: E402


def test_the_example_keeps_every_promise():
    """Ours do in tests/estimators/test_contract.py."""
    check_estimator(Margin())


def test_the_example_is_atc_for_two_classes():
    """The margin of two probabilities rises with the larger one."""
    source = Outputs([[1.0, 0.0], [2.0, 0.0], [4.0, 0.0]], [1, 0, 0])
    target = Outputs([[1.1, 0.0], [3.0, 0.0]])
    ours = ESTIMATORS["ATC-MC"]().fit(source).estimate(target)
    assert Margin().fit(source).estimate(target).error == ours.error


@dataclass(frozen=True)
class Peeking(AC):
    def read(self, known, state, target):
        return replace(super().read(known, state, target), raw_error=0.5 if target.labels is None else 0.25)


@dataclass(frozen=True)
class Ordered(AC):
    def read(self, known, state, target):
        return replace(super().read(known, state, target), raw_error=float(target.logits[0].argmax()))


@dataclass(frozen=True)
class Silent(AC):
    def read(self, known, state, target):
        return RawEstimate(None, None, "")


class Anything(FittedEstimator):
    def estimate(self, target, **chosen):
        return Estimate.of(0.5)


@dataclass(frozen=True)
class Careless(AC):
    def fit(self, source):
        return Anything(self, SourceSummary(source.n, source.classes))


@dataclass
class Thawed:
    calibrate: bool = True
    name, paper, summary, needs = "Thawed", "none", "can be changed", ()


@pytest.mark.parametrize(
    ("estimator", "promise"),
    [
        (Peeking(), "labels of the target are looked at"),
        (Ordered(), "in another order"),
        (Silent(), "no estimate without a reason"),
        (Careless(), "a target of other classes must be refused"),
        (Thawed(), "settings are frozen"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_broken_promise_is_named(estimator, promise):
    with pytest.raises(AssertionError, match=promise):
        check_estimator(estimator)
