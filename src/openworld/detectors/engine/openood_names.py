"""Postprocessors of OpenOOD v1.5 by name: how each is made, what it looks at, and which cannot be served and why."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from openworld.detectors.engine.other_libraries import View

OWN_TRAINING = "it needs a network of OpenOOD that was trained its way"


@dataclass(frozen=True)
class Postprocessor:
    """How one of OpenOOD is made and what it looks at.

    kind: its class in `openood.postprocessors`. view: what it is called with. learns: None, or "images" or "labels" of
    training images. settings: its defaults. wrapped: the class in `openood.networks` that shapes features for it.
    """

    kind: str
    view: View = "logits"
    learns: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    wrapped: tuple[str, str] | None = None
    maps: bool = False


SERVED: Mapping[str, Postprocessor] = {
    "msp": Postprocessor("BasePostprocessor"),
    "ebo": Postprocessor("EBOPostprocessor", settings={"temperature": 1}),
    "mls": Postprocessor("MaxLogitPostprocessor"),
    "gen": Postprocessor("GENPostprocessor", settings={"gamma": 0.1, "M": 100}),
    "temp_scaling": Postprocessor("TemperatureScalingPostprocessor", learns="labels"),
    "openmax": Postprocessor("OpenMax", learns="labels"),
    "klm": Postprocessor("KLMatchingPostprocessor", "features", "images", {"dim": 512}),
    "mds": Postprocessor("MDSPostprocessor", "features", "labels"),
    "rmds": Postprocessor("RMDSPostprocessor", "features", "labels"),
    "gradnorm": Postprocessor("GradNormPostprocessor", "features"),
    "knn": Postprocessor("KNNPostprocessor", "features", "images", {"K": 50}),
    "dice": Postprocessor("DICEPostprocessor", "features", "images", {"p": 90}),
    "vim": Postprocessor("VIMPostprocessor", "features", "images", {"dim": 256}),
    "residual": Postprocessor("ResidualPostprocessor", "features", "images", {"dim": 512}),
    "she": Postprocessor("SHEPostprocessor", "features", "labels", {"metric": "inner_product"}),
    "fdbd": Postprocessor("fDBDPostprocessor", "features", "images", {"distance_as_normalizer": True}),
    "nci": Postprocessor("NCIPostprocessor", "features", "images", {"alpha": 0.0001}),
    "nnguide": Postprocessor("NNGuidePostprocessor", "features", "images", {"K": 100, "alpha": 0.01}),
    "relation": Postprocessor("RelationPostprocessor", "features", "images", {"pow": 1}),
    "vra": Postprocessor("VRAPostprocessor", "features", "images", {"percentile_high": 90, "percentile_low": 10}),
    "react": Postprocessor("ReactPostprocessor", "features", "images", {"percentile": 90}, ("react_net", "ReactNet")),
    "ash": Postprocessor("ASHPostprocessor", "features", None, {"percentile": 90}, ("ash_net", "ASHNet")),
    "scale": Postprocessor("ScalePostprocessor", "features", None, {"percentile": 85}, ("scale_net", "ScaleNet")),
    "odin": Postprocessor("ODINPostprocessor", "images", None, {"temperature": 1000, "noise": 0.0014}),
    "iodin": Postprocessor("IODINPostprocessor", "images", None, {"temperature": 1000, "noise": 0.0014}),
    "rankfeat": Postprocessor(
        "RankFeatPostprocessor", "images", None, {"accelerate": False, "temperature": 1}, maps=True
    ),
    "mds_ensemble": Postprocessor(
        "MDSEnsemblePostprocessor",
        "images",
        "labels",
        {"noise": 0.0014, "feature_type_list": ["mean"], "alpha_list": [1], "reduce_dim_list": ["none"]},
    ),
}
"""Names as in OpenOOD's configuration files."""

UNSERVED: Mapping[str, str] = {
    "gram": "it reads five maps of OpenOOD's own networks, and its confidence grows with strangeness; use Gram",
    "gmm": "its layers, clusters and weights are written for each of OpenOOD's data sets; use GMM",
    "adascale_a": "its settings are made by OpenOOD's own search alone; use AdaSCALE",
    "adascale_l": "its settings are made by OpenOOD's own search alone; use AdaSCALE",
    "dropout": "it asks for OpenOOD's own network with dropout, and is its MSP without; use MCDropout",
    "ensemble": "it loads checkpoints of OpenOOD's own networks; use DeepEnsemble",
    "mcm": "it asks for OpenOOD's own CLIP; use MCM",
    **dict.fromkeys(
        ("cider", "conf_branch", "godin", "mcd", "mos", "npos", "opengan", "reweightood", "rotpred", "rts", "t2fnorm"),
        OWN_TRAINING,
    ),
    **dict.fromkeys(
        ("cutpaste", "draem", "dsvdd", "kdad", "patchcore", "rd4ad", "ssd"), "it finds defects, not classes"
    ),
}
