"""What packages hold is what their Protocols say: `ty check` reads this file, and a class that is none is an error."""

from openworld import backbones, detectors, estimators, learners
from openworld.estimators import open_world, score_regression
from openworld.shifts import synthesis

LEARNERS: tuple[type[learners.Learner], ...] = (
    learners.ZeroShot,
    learners.ZeroShotEnsemble,
    learners.CoOp,
    learners.KgCoOp,
    learners.GMoP,
    learners.CoCoOp,
    learners.VPT,
    learners.MaPLe,
    learners.IVLP,
    learners.PromptSRC,
    learners.ProGrad,
    learners.RPO,
    learners.ProDA,
    learners.TCP,
    learners.DePT,
    learners.LoCoOp,
    learners.GalLoP,
    learners.DeCoOp,
    learners.MMRL,
    learners.SkipTuning,
    learners.TwoSFS,
)
DETECTORS: tuple[type[detectors.OODDetector], ...] = (
    detectors.MSP,
    detectors.ODIN,
    detectors.MDS,
    detectors.GradNorm,
    detectors.KNN,
    detectors.DICE,
    detectors.RankFeat,
    detectors.ASH,
    detectors.Energy,
    detectors.MaxLogit,
    detectors.ReAct,
    detectors.SCALE,
    detectors.GEN,
    detectors.ViM,
    detectors.RMDS,
    detectors.FDBD,
    detectors.NNGuide,
    detectors.SHE,
    detectors.NCI,
    detectors.VRA,
    detectors.CoP,
    detectors.CoRP,
    detectors.AdaSCALE,
    detectors.MCM,
    detectors.GLMCM,
    detectors.NegLabel,
    detectors.OpenMax,
    detectors.KLMatching,
    detectors.TemperatureScaling,
    detectors.Entropy,
    detectors.ResidualNorm,
    detectors.Relation,
    detectors.GMM,
    detectors.WeiPer,
    detectors.RAS,
    detectors.Gram,
    detectors.MDSEnsemble,
    detectors.NAC,
    detectors.CSP,
    detectors.AdaNeg,
    detectors.LMCM,
    detectors.MCDropout,
    detectors.DeepEnsemble,
    detectors.OwnScore,
)
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
OPEN_WORLD: tuple[type[open_world.OpenWorldEstimator], ...] = (
    open_world.OwnNames,
    open_world.Thresholded,
    open_world.Mixture,
    open_world.Hybrid,
    open_world.ThirdModel,
    open_world.PositiveUnlabelled,
)
BACKBONES: tuple[type[backbones.DualEncoder], ...] = (backbones.TwoTower, backbones.ForeignEncoder)
PAINTERS: tuple[type[synthesis.Painter], ...] = (synthesis.RenderedPainter,)


def test_every_method_is_held_against_its_protocol():
    for ours, table in (
        (LEARNERS, learners.LEARNERS),
        (DETECTORS, detectors.DETECTORS),
        (ESTIMATORS + SCORES, estimators.ESTIMATORS),
        (OPEN_WORLD, open_world.OPEN_WORLD_ESTIMATORS),
    ):
        assert set(ours) == set(table.values())
