"""What packages hold is what their Protocols say: `ty check` reads this file, and a class that is none is an error.

`LEARNERS`, `DETECTORS` and `OPEN_WORLD_ESTIMATORS` say so where they are made.
"""

from openworld import backbones, estimators
from openworld.estimators import score_regression
from openworld.shifts import synthesis

ESTIMATORS: tuple[type[estimators.Estimator], ...] = (
    estimators.AC,
    estimators.DoC,
    estimators.IM,
    estimators.GDE,
    estimators.ATCMaxConfidence,
    estimators.ATCNegativeEntropy,
    estimators.COT,
    estimators.COTT,
    estimators.CBPE,
    estimators.FRAP,
    estimators.RAP,
    estimators.TwoViews,
    estimators.PseudoLabelShift,
    estimators.ALineS,
    estimators.ALineD,
)
SCORES: tuple[type[score_regression.Score], ...] = (
    estimators.NuclearNorm,
    estimators.MaNo,
    estimators.SoftmaxCorr,
    estimators.MDE,
)
BACKBONES: tuple[type[backbones.DualEncoder], ...] = (backbones.TwoTower, backbones.ForeignEncoder)
PAINTERS: tuple[type[synthesis.Painter], ...] = (synthesis.RenderedPainter,)


def test_every_estimator_is_held_against_its_protocol():
    assert {*ESTIMATORS, *SCORES} == set(estimators.ESTIMATORS.values())
