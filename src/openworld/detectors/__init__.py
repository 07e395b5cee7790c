"""Out-of-distribution detectors: does an image look like what a classifier was built from? One file each.

A detector is a frozen dataclass of its settings, whose defaults are OpenOOD's. It offers

    fit(features, labels, head)            a `FittedDetector` detector, from training images
    fitted.score(features)                 float[N], larger = more in-distribution

with features float[N, D], what enters the classifier's last linear layer, on any device; labels int[N]; head that layer
(`Head`). Where more is looked at, all of it comes as one `Activations`: logits, maps, moved images, class names of a
two-tower model. A detector says in `name`, `paper`, `summary` and `needs` what it is and what it looks at.

`watch(model, images)` finds the head of any torch classifier, `plan(detectors, model)` derives the fewest passes that
serve all, refuses early, and fits and scores in one stream over batches of images:

    route = plan(profile("is-ood"), watch(model, images, pixel_std=(0.229, 0.224, 0.225)))
    fitted = route.fit(training_batches)           # (images, labels)
    scores = route.score(fitted, test_batches)     # {"MSP": float[N], ...}

What was fitted goes into one file and comes back (`FittedDetector.save`, `save_together`); training images in shards
are gathered apart, merged and then fitted (`gather`, `FitStatistics.merge`).

Every sibling is written as: `gathers`, the statistics of training images that it learns from, in one pass shared by all
(`fit_together`); `learn(head, *totals)`, what it makes of them; `read(state, activations)`, scores. Another package's
is made of `openworld.detectors.plugin_api`.
"""

from typing import TYPE_CHECKING

from openworld.core.lazy import lazily
from openworld.core.plugins import Plugins

if TYPE_CHECKING:
    from openworld.detectors.adaneg import AdaNeg
    from openworld.detectors.adascale import AdaSCALE
    from openworld.detectors.ash import ASH
    from openworld.detectors.catalogue import ALSO_CALLED, DETECTORS, PROFILES, find_detector, make_detector, profile
    from openworld.detectors.cop import CoP
    from openworld.detectors.corp import CoRP
    from openworld.detectors.csp import CSP
    from openworld.detectors.deep_ensemble import DeepEnsemble
    from openworld.detectors.dice import DICE
    from openworld.detectors.energy import Energy
    from openworld.detectors.engine.activations import NEEDS, Activations, Layer, Maps
    from openworld.detectors.engine.fit_statistics import FitStatistics, fit_together, gather, load_gathered
    from openworld.detectors.engine.fitted import (
        FittedDetector,
        OODDetector,
        is_sequential,
        load_fitted,
        load_together,
        save_together,
        score_stream,
        score_streams,
        score_together,
    )
    from openworld.detectors.engine.head import Head
    from openworld.detectors.engine.hooks import WatchedModel, watch
    from openworld.detectors.engine.linear_probe import linear_probe
    from openworld.detectors.engine.perturbation import Perturbation, Sampling
    from openworld.detectors.engine.planning import DetectionPlan, plan, require_images
    from openworld.detectors.engine.search import DetectorCandidates, candidates, published_grid
    from openworld.detectors.engine.texts import SUPERCLASSES, Texts, conjugated_names, encode_texts, mine_negatives
    from openworld.detectors.engine.two_towers import activations_of, activations_of_learner
    from openworld.detectors.entropy import Entropy
    from openworld.detectors.fdbd import FDBD
    from openworld.detectors.gen import GEN
    from openworld.detectors.gl_mcm import GLMCM
    from openworld.detectors.gmm import GMM
    from openworld.detectors.gradnorm import GradNorm
    from openworld.detectors.gram import Gram
    from openworld.detectors.kl_matching import KLMatching
    from openworld.detectors.knn import KNN
    from openworld.detectors.l_mcm import LMCM
    from openworld.detectors.max_logit import MaxLogit
    from openworld.detectors.mc_dropout import MCDropout
    from openworld.detectors.mcm import MCM
    from openworld.detectors.mds import MDS
    from openworld.detectors.mds_ensemble import MDSEnsemble
    from openworld.detectors.msp import MSP
    from openworld.detectors.nac import NAC
    from openworld.detectors.nci import NCI
    from openworld.detectors.neglabel import NegLabel
    from openworld.detectors.nnguide import NNGuide
    from openworld.detectors.odin import ODIN
    from openworld.detectors.openmax import OpenMax
    from openworld.detectors.own_score import OwnScore
    from openworld.detectors.rankfeat import RankFeat
    from openworld.detectors.ras import RAS
    from openworld.detectors.react import ReAct
    from openworld.detectors.relation import Relation
    from openworld.detectors.residual import ResidualNorm
    from openworld.detectors.rmds import RMDS
    from openworld.detectors.scale import SCALE
    from openworld.detectors.she import SHE
    from openworld.detectors.temperature_scaling import TemperatureScaling
    from openworld.detectors.vim import ViM
    from openworld.detectors.vra import VRA
    from openworld.detectors.weiper import WeiPer

__getattr__, __dir__ = lazily(__name__, __file__)

PLUGINS = Plugins(
    "detector", ("name", "paper", "summary", "needs", "gathers", "fit", "read"), lambda: __getattr__("DETECTORS")
)
all_detectors, broken_plugins, origin = PLUGINS.all, PLUGINS.broken, PLUGINS.origin

__all__ = [
    "ALSO_CALLED",
    "ASH",
    "Activations",
    "AdaNeg",
    "AdaSCALE",
    "CSP",
    "CoP",
    "CoRP",
    "DETECTORS",
    "DICE",
    "DeepEnsemble",
    "DetectionPlan",
    "DetectorCandidates",
    "Energy",
    "Entropy",
    "FDBD",
    "FitStatistics",
    "FittedDetector",
    "GEN",
    "GLMCM",
    "GMM",
    "GradNorm",
    "Gram",
    "Head",
    "KLMatching",
    "KNN",
    "LMCM",
    "Layer",
    "MCDropout",
    "MCM",
    "MDS",
    "MDSEnsemble",
    "MSP",
    "Maps",
    "MaxLogit",
    "NAC",
    "NCI",
    "NEEDS",
    "NNGuide",
    "NegLabel",
    "ODIN",
    "OODDetector",
    "OpenMax",
    "OwnScore",
    "PROFILES",
    "Perturbation",
    "RAS",
    "RMDS",
    "RankFeat",
    "ReAct",
    "Relation",
    "ResidualNorm",
    "SCALE",
    "SHE",
    "SUPERCLASSES",
    "Sampling",
    "TemperatureScaling",
    "Texts",
    "VRA",
    "ViM",
    "WatchedModel",
    "WeiPer",
    "activations_of",
    "activations_of_learner",
    "all_detectors",
    "broken_plugins",
    "candidates",
    "conjugated_names",
    "encode_texts",
    "find_detector",
    "fit_together",
    "gather",
    "is_sequential",
    "linear_probe",
    "load_fitted",
    "load_gathered",
    "load_together",
    "make_detector",
    "mine_negatives",
    "origin",
    "plan",
    "profile",
    "published_grid",
    "require_images",
    "save_together",
    "score_stream",
    "score_streams",
    "score_together",
    "watch",
]
