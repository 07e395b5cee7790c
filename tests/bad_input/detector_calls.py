"""Every public function and every detector of `openworld.detectors`, with good values of all arguments."""

from dataclasses import fields, replace
from functools import cache

import torch
from judging import Call, new_folder

from openworld import detectors
from openworld.detectors import (
    DETECTORS,
    KNN,
    MSP,
    Activations,
    Head,
    Layer,
    Maps,
    Perturbation,
    Sampling,
    Texts,
)
from openworld.testing import small_classifier, small_images, small_seen

SETTLED = {
    "KNN": {"k": 3, "bank": 20},
    "ViM": {"dimensions": 8},
    "NNGuide": {"k": 3, "share": 1.0},
    "Residual": {"dimensions": 8},
    "CoRP": {"dimensions": 64},
    "NegLabel": {"groups": 5},
    "CSP": {"groups": 5},
}
FOLDER = new_folder()
WRITES = frozenset(("path", kind) for kind in ("unknown name", "empty text"))


@cache
def shown(name, seed):
    """What a detector looks at of 30 images."""
    detector = DETECTORS[name](**SETTLED.get(name, {}))
    moved = (detector.perturbation,) if "gradient" in detector.needs else ()
    several = (detector.sampling,) if "samples" in detector.needs else ()
    return small_seen(seed, 30, perturbations=moved, samplings=several)


def at_work(detector, name, train=None, test=None):
    return detector.fit(train or shown(name, 1)).score(test or shown(name, 2))


def of_settings(name):
    """A detector made of settings, fitted and scoring."""
    kind = DETECTORS[name]
    settings = {one.name: SETTLED.get(name, {}).get(one.name, one.default) for one in fields(kind)}
    none = frozenset(one.name for one in fields(kind) if "None" in str(one.type))

    def run(**settings):
        if settings.keys() & {"step", "objective"} or hasattr(kind, "sampling"):  # images are passed anew
            return kind(**settings)
        return at_work(kind(**settings), name)

    return Call(run, settings, optional=none, allowed=frozenset({("powers", "list of numbers")}))


def on_tensors(name):
    """A detector on features, labels and a head of one's own."""
    detector, train, test = DETECTORS[name](**SETTLED.get(name, {})), shown(name, 1), shown(name, 2)
    nullable = {"labels": "labels" not in detector.needs, "bias": True}

    def run(features, labels, weight, bias, test_features):
        head = Head(weight, bias)
        return at_work(
            detector,
            name,
            replace(train, features=features, labels=labels, head=head, outputs=None),
            replace(test, features=test_features, head=head, outputs=None),
        )

    given = {"features": train.features, "labels": train.labels, "weight": train.head.weight, "bias": train.head.bias}
    free = frozenset({name for name, may in nullable.items() if may} | {"features", "test_features"})
    half = frozenset(("features", "half") for _ in range(1))  # the head stays wide: another rounding
    return Call(run, given | {"test_features": test.features}, optional=free, left_out=half)


def texts_of(names, negative, template):
    return detectors.encode_texts(Words(), names, negative=negative, template=template)


class Words:
    """Stands for a text tower."""

    def encode_text(self, sentences):
        return torch.stack([torch.tensor([1.0, len(sentence), 2.0]) for sentence in sentences])


def seen_of(**parts):
    return MSP().fit(head=parts["head"]).score(Activations(**parts))


def pixels(detector_list, images):
    route = detectors.plan(detector_list, MODEL)
    return route.score(route.fit([(images, torch.arange(len(images)) % 3)]), [images])


MODEL = small_classifier()
IMAGES, LABELS = small_images(0, 12)
SEEN = small_seen(0, 12)
LAST = SEEN.layers["last"]
FITTED = {"KNN": KNN(k=3).fit(SEEN), "MSP": MSP().fit(SEEN)}
detectors.save_together(FITTED, FOLDER / "two")
FITTED["KNN"].save(FOLDER / "one")
GATHERED = detectors.gather({"KNN": KNN(k=3)}, [SEEN])
GATHERED.save(FOLDER / "shard")
PLAN = detectors.plan([MSP(), KNN(k=3)], MODEL)
PLANNED = PLAN.fit([(IMAGES, LABELS)])
FILES = {"kinds": (MSP,), "device": "cpu"}
OTHERS = frozenset({("name", "unknown name"), ("name", "empty text")})  # plug-ins alone have an origin
HALF = frozenset({("images", "half")})  # what type of pixels it takes is for the model to say
EITHER = frozenset({("kinds", "empty list"), ("kinds", "empty mapping")})

CALLS = {
    **{f"{DETECTORS[name].__name__} of settings": of_settings(name) for name in DETECTORS if fields(DETECTORS[name])},
    **{f"{DETECTORS[name].__name__} on tensors": on_tensors(name) for name in DETECTORS},
    "FittedDetector.score": Call(FITTED["KNN"].score, {"features": SEEN.features}),
    "FitStatistics.merge": Call(detectors.gather({"KNN": KNN(k=3)}, [SEEN], start=0).merge, {"following": GATHERED}),
    "Head": Call(Head, {"weight": SEEN.head.weight, "bias": SEEN.head.bias}),
    "Head.of_texts": Call(Head.of_texts, {"texts": SEEN.texts.own, "scale": 100.0}),
    "Layer": Call(
        lambda **parts: detectors.NAC().fit(SEEN).score(Activations(layers={"stem.1": Layer(**parts), "last": LAST})),
        {"maps": SEEN.layers["stem.1"].maps, "gradient": SEEN.layers["stem.1"].gradient},
    ),
    "Maps": Call(
        lambda **parts: detectors.RankFeat().fit(SEEN).score(replace(SEEN, maps=Maps(**parts))),
        {"early": SEEN.maps.early, "late": SEEN.maps.late, "last_stage": SEEN.maps.last_stage},
    ),
    "Perturbation": Call(
        Perturbation,
        {"objective": "confidence", "temperature": 1.0, "step": 0.5, "share": 0.5, "in_pixels": True},
    ),
    "Sampling": Call(Sampling, {"source": "dropout", "repeats": 3, "seed": 0}),
    "DetectionPlan.fit": Call(PLAN.fit, {"batches": [(IMAGES, LABELS)]}),
    "DetectionPlan.gather": Call(PLAN.gather, {"batches": [(IMAGES, LABELS)], "start": 0}),
    "DetectionPlan.score": Call(PLAN.score, {"fitted": PLANNED, "batches": [IMAGES]}),
    "Activations": Call(
        seen_of,
        {part: getattr(SEEN, part) for part in ("features", "head", "outputs", "labels", "maps", "texts", "patches")},
        optional=frozenset({"features", "head", "outputs", "labels", "maps", "texts", "patches"}),
    ),
    "Texts": Call(Texts, {"own": SEEN.texts.own, "negative": SEEN.texts.negative, "conjugated": SEEN.texts.conjugated}),
    "WatchedModel.see": Call(
        MODEL.see,
        {"images": IMAGES, "labels": LABELS, "maps": False, "perturbations": (Perturbation(),)}
        | {"layers": ["last"], "layer_gradients": True, "samplings": (Sampling(repeats=2),)},
        left_out=HALF,
        allowed=frozenset({("layers", "empty list")}),
    ),
    "conjugated_names": Call(
        detectors.conjugated_names,
        {"adjectives": ["ivory"], "superclasses": ["scene"], "seed": 0},
        allowed=frozenset({("adjectives", "list of text"), ("superclasses", "list of text")}),
    ),
    "encode_texts": Call(
        texts_of,
        {"names": ["cat", "dog"], "negative": ["car"], "template": "a {}."},
        allowed=frozenset({("names", "list of text"), ("negative", "list of text")}),
    ),
    "find_detector": Call(detectors.find_detector, {"name": "KNN"}),
    "fit_together": Call(detectors.fit_together, {"detectors": {"KNN": KNN(k=3)}, "batches": [SEEN]}),
    "gather": Call(detectors.gather, {"detectors": {"KNN": KNN(k=3)}, "batches": [SEEN], "start": 0}),
    "linear_probe": Call(
        detectors.linear_probe, {"features": SEEN.features, "labels": SEEN.labels, "classes": 3, "penalty": 0.5}
    ),
    "load_fitted": Call(detectors.load_fitted, {"path": str(FOLDER / "one")} | FILES, allowed=EITHER),
    "load_gathered": Call(detectors.load_gathered, {"path": str(FOLDER / "shard")} | FILES, allowed=EITHER),
    "load_together": Call(detectors.load_together, {"path": str(FOLDER / "two")} | FILES, allowed=EITHER),
    "make_detector": Call(detectors.make_detector, {"name": "KNN", "settings": {"k": 3}}),
    "mine_negatives": Call(
        detectors.mine_negatives,
        {"own": SEEN.texts.own, "candidates": SEEN.texts.negative, "share": 0.5, "quantile": 0.5},
    ),
    "origin": Call(detectors.origin, {"name": "KNN"}, allowed=OTHERS),
    "plan": Call(detectors.plan, {"detectors": [MSP(), KNN(k=3)], "model": MODEL}),
    "profile": Call(detectors.profile, {"name": "is-ood"}),
    "require_images": Call(detectors.require_images, {"detectors": {"KNN": KNN(k=3)}, "images": 12}),
    "save_together": Call(detectors.save_together, {"fitted": FITTED, "path": str(FOLDER / "saved")}, left_out=WRITES),
    "score_stream": Call(detectors.score_stream, {"fitted": FITTED, "image_sets": [SEEN, SEEN], "seed": 0}),
    "score_streams": Call(detectors.score_streams, {"fitted": FITTED, "known": SEEN, "others": [SEEN], "seed": 0}),
    "score_together": Call(detectors.score_together, {"fitted": FITTED, "features": SEEN.features}),
    "watch": Call(
        detectors.watch,
        {"module": MODEL.module, "images": IMAGES, "head": "head", "last_stage": "last", "pixel_std": (0.2, 0.3, 0.4)}
        | {"layers": ["last"], "members": [MODEL.module]},
        allowed=frozenset({("pixel_std", "list of numbers")}),
        left_out=HALF,
    ),
}
RESULTS = frozenset({"DetectorCandidates", "FittedDetector", "FitStatistics", "DetectionPlan", "WatchedModel"})
"""Classes that functions return; nobody makes them by hand."""
ELSEWHERE = {
    "all_detectors": "no argument",
    "broken_plugins": "no argument",
    "is_sequential": "any object has an answer",
    "published_grid": "any object has an answer",
    "candidates": "grids of settings, in tests/detectors/engine/test_search.py",
    "activations_of_learner": "a tuned learner and its cache, in tests/ood/by_shift",
    "activations_of": "a two-tower model and its cache, in tests/detectors/engine/test_two_towers.py",
}
