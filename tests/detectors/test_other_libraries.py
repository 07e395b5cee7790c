"""Detectors of pytorch-ood and OpenOOD by name: on stand-ins of their interfaces, against ours."""

import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from stand_ins import KNN as KNearest
from stand_ins import install
from stored import assert_close, head, judged, training
from torch import nn

from openworld import OpenworldError
from openworld.detectors import (
    DICE,
    KNN,
    MCM,
    ODIN,
    SHE,
    Energy,
    GradNorm,
    Maps,
    PytorchOOD,
    RankFeat,
    ReAct,
    fit_together,
    load_fitted,
    make_detector,
    origin,
    plan,
    score_together,
    watch,
)
from openworld.evaluations.model_entries import DetectorSpec, JudgedSpec
from openworld.testing import small_classifier, small_pictures, small_seen

OF_MODEL = {
    "pytorch-ood:EnergyBased": {"t": 2.0},
    "pytorch-ood:KNN": {"k": 5},
    "pytorch-ood:DICE": {"p": 0.9},
    "pytorch-ood:ReAct": {},
    "pytorch-ood:GradNorm": {},
    "pytorch-ood:ODIN": {},
    "pytorch-ood:MahalanobisODIN": {},
    "pytorch-ood:Gram": {},
    "pytorch-ood:MultiMahalanobis": {},
    "openood:msp": {},
    "openood:ebo": {},
    "openood:knn": {"K": 5},
    "openood:she": {},
    "openood:react": {},
    "openood:gradnorm": {},
    "openood:odin": {},
    "openood:rankfeat": {},
    "openood:mds_ensemble": {},
    "openood:OwnPostprocessor": {"scale": 2},
}


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    install(monkeypatch)


def both(name, settings, ours, train=None, test=None):
    """Scores by the adapter and by ours, of the stored images."""
    train, test = train or training(), test or judged("ood")
    fitted = fit_together({"theirs": make_detector(name, settings), "ours": ours}, train.split(64))
    return score_together(fitted, test).values()


@pytest.mark.parametrize(
    ("name", "settings", "ours"),
    [
        ("pytorch-ood:EnergyBased", {"t": 2.0}, Energy(2.0)),
        ("pytorch-ood:DICE", {"p": 0.9}, DICE()),
        ("openood:ebo", {"temperature": 2.0}, Energy(2.0)),
        ("openood:knn", {"K": 5}, KNN(5)),
        ("openood:she", {}, SHE()),
        ("openood:react", {}, ReAct()),
        ("openood:gradnorm", {}, GradNorm()),
    ],
)
def test_of_features_and_logits(name, settings, ours):
    theirs, own = both(name, settings, ours)
    assert_close(own, theirs)


def test_distances_are_not_squared_in_pytorch_ood():
    theirs, own = both("pytorch-ood:KNN", {"k": 5}, KNN(5))
    assert_close(own, -theirs.square())


def test_maps_of_one_position_are_features():
    def flat(seen):
        maps = Maps(seen.features[:, :, None, None], seen.features[:, :, None, None], nn.Identity())
        return replace(seen, maps=maps)

    theirs, own = both("pytorch-ood:ReAct", {"percentile": 0.9}, ReAct(), flat(training()), flat(judged("id")))
    assert_close(own, theirs)


def test_texts_of_a_two_tower_model():
    seen = small_seen(1, 20)
    scores = score_together({"theirs": make_detector("pytorch-ood:MCM").fit(), "ours": MCM().fit()}, seen)
    assert_close(scores["theirs"], scores["ours"])


@pytest.mark.parametrize(
    ("name", "settings", "ours", "factor"),
    [
        ("pytorch-ood:GradNorm", {"param_filter": "head.weight"}, GradNorm(), 3),
        ("pytorch-ood:ODIN", {}, ODIN(), 1),
        ("openood:odin", {}, ODIN(), 1),
        ("openood:rankfeat", {}, RankFeat(), 1),
    ],
)
def test_of_images(name, settings, ours, factor):
    model = small_classifier("cpu")
    settings = settings | ({"param_filter": f"{model.head_name}.weight"} if settings else {})
    route = plan({"theirs": make_detector(name, settings), "ours": ours}, model)
    scores = route.score(route.fit([]), [small_pictures(1, 9)[0]])
    assert_close(scores["ours"] / factor, scores["theirs"])


def test_layers_are_called_one_after_the_other():
    model, (images, labels) = small_classifier("cpu"), small_pictures(0, 40)
    route = plan([make_detector("pytorch-ood:Gram")], model)
    scores = route.score(route.fit([(images[:16], labels[:16]), (images[16:], labels[16:])]), [images])

    def means(seen):
        return torch.stack([layer.maps.flatten(1).mean(dim=1) for layer in seen.layers.values()], dim=1)

    seen = model.see(images, layers=model.layers)
    expected = (means(seen) - means(seen).mean(dim=0)).abs().sum(dim=1) * seen.logits.amax(dim=1)
    assert_close(scores["pytorch-ood:Gram"], -expected)


def test_layers_can_be_named():
    model, batch = small_classifier("cpu"), small_pictures(0, 40)
    one, all_ = (
        plan([make_detector("pytorch-ood:MultiMahalanobis", settings)], model)
        for settings in ({"layers": model.layers[0]}, {})
    )
    first, every = (route.score(route.fit([batch]), [batch[0]]).popitem()[1] for route in (one, all_))
    pooled = model.see(*batch, layers=model.layers[:1]).layers[model.layers[0]].pooled
    nearest = torch.cdist(pooled, torch.stack([pooled[batch[1] == own].mean(dim=0) for own in range(3)]))
    assert_close(first, -nearest.square().amin(dim=1))
    assert not torch.allclose(first, every)


def test_the_gradient_of_features_with_respect_to_pixels():
    model, (images, labels) = small_classifier("cpu"), small_pictures(0, 20)
    route = plan([make_detector("pytorch-ood:MahalanobisODIN")], model)
    (scores,) = route.score(route.fit([(images, labels)]), [images]).values()
    pixels = images.clone().requires_grad_()
    features = model.module.features(pixels)
    (slope,) = torch.autograd.grad((features - features.detach().mean(dim=0)).square().sum(), pixels)
    assert_close(scores, -slope.flatten(1).norm(dim=1), 1e-4)


@pytest.mark.parametrize(("name", "settings"), OF_MODEL.items(), ids=OF_MODEL)
def test_nothing_is_left_behind(name, settings, capfd):
    model, batch = small_classifier("cpu"), small_pictures(0, 40)
    before = {key: value.clone() for key, value in model.module.state_dict().items()}
    modes = [part.training for part in model.module.modules()]
    required = [own.requires_grad for own in model.module.parameters()]
    generator = torch.get_rng_state()
    route = plan([make_detector(name, settings)], model)
    fitted = route.fit([batch])
    scores = [route.score(fitted, [batch[0]])[name] for _ in range(2)]
    assert torch.equal(*scores) and scores[0].shape == (40,)
    assert [part.training for part in model.module.modules()] == modes
    assert [own.requires_grad for own in model.module.parameters()] == required
    assert all(own.grad is None for own in model.module.parameters())
    assert all(torch.equal(value, before[key]) for key, value in model.module.state_dict().items())
    assert not any(part._forward_hooks for part in model.module.modules())
    assert torch.equal(torch.get_rng_state(), generator)
    assert not any(capfd.readouterr())


def test_dropout_is_switched_off_again_and_asked_for():
    module = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(12), nn.Dropout(0.5), nn.Linear(12, 3)).eval()
    images = torch.rand(9, 3, 2, 2, generator=torch.Generator().manual_seed(0))
    route = plan([make_detector("pytorch-ood:MCD")], watch(module, images))
    scores = route.score(route.fit([]), [images])["pytorch-ood:MCD"]
    assert (scores < 0).all() and not any(part.training for part in module.modules())
    assert module[1].num_batches_tracked == 0
    route = plan([make_detector("pytorch-ood:MCD")], watch(nn.Sequential(module[0], module[3]).eval(), images))
    with pytest.raises(OpenworldError, match="needs dropout"):
        route.score(route.fit([]), [images])


@pytest.mark.parametrize("name", ["pytorch-ood:KNN", "openood:knn"])
def test_saved_and_read_again(name, tmp_path):
    fitted = make_detector(name, {"k" if name.startswith("p") else "K": 3}).fit(training())
    fitted.save(tmp_path / "fitted")
    again = load_fitted(tmp_path / "fitted")
    assert torch.equal(again.score(judged("id")), fitted.score(judged("id")))
    assert again.detector == fitted.detector and hash(again.detector) == hash(fitted.detector)


def test_what_they_look_at():
    needs = {name: make_detector(name, settings).needs for name, settings in OF_MODEL.items()}
    assert needs["pytorch-ood:EnergyBased"] == needs["openood:ebo"] == ("logits",)
    assert needs["pytorch-ood:KNN"] == ("features", "bank") and needs["pytorch-ood:DICE"][:2] == ("features", "head")
    assert needs["pytorch-ood:ODIN"] == ("images",) and needs["pytorch-ood:MultiMahalanobis"][-2:] == ("labels", "bank")
    assert needs["openood:rankfeat"] == ("images", "head", "maps")
    assert needs["openood:she"] == ("features", "head", "labels", "bank")


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("pytorch-ood:Knn", {}, "did you mean 'KNN'"),
        ("pytorch-ood", {}, "name one of its detectors"),
        ("pytorch-ood:DICE", {}, "has no default for p; give it, such as pytorch-ood:DICE:p=VALUE"),
        ("pytorch-ood:ODIN", {"epsilon": 1}, "unknown setting of pytorch-ood:ODIN 'epsilon'; did you mean 'eps'"),
        ("pytorch-ood:WeightedEBO", {}, "learned when the classifier was trained"),
        ("openood:kn", {}, "did you mean 'knn'"),
        ("openood:knn", {"k": 5}, "did you mean 'K'"),
        ("openood:cider", {}, "trained its way"),
        ("openood:gram", {}, "use Gram"),
    ],
)
def test_refused_at_once(name, settings, message):
    with pytest.raises(OpenworldError, match=message):
        make_detector(name, settings)


@pytest.mark.parametrize(
    ("name", "package", "install"),
    [("pytorch-ood:KNN", "pytorch_ood", "pip install pytorch-ood"), ("openood:knn", "openood", "pip install git")],
)
def test_a_library_that_is_not_there(name, package, install, monkeypatch):
    for module in [module for module in sys.modules if module.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(OpenworldError, match=install):
        make_detector(name)


def test_an_object_has_its_settings():
    with pytest.raises(OpenworldError, match="give none beside it"):
        PytorchOOD(KNearest(encoder=None), {"k": 5})


def test_what_the_library_raises_names_the_detector():
    with pytest.raises(OpenworldError, match=r"pytorch-ood:KNN cannot learn from these images: ValueError: k=500"):
        make_detector("pytorch-ood:KNN", {"k": 500}).fit(training())
    with pytest.raises(OpenworldError, match="openood:she needs labels"):
        make_detector("openood:she").fit(training().features, head=head())
    with pytest.raises(OpenworldError, match="the images and the classifier itself"):
        make_detector("pytorch-ood:ODIN").fit().score(judged("id"))


def test_in_a_spec():
    entry = DetectorSpec("pytorch-ood:KNN", settings={"k": 5})
    assert entry.label == "pytorch-ood:KNN" and entry.build() == make_detector("pytorch-ood:KNN", {"k": 5})
    assert origin("pytorch-ood:KNN").startswith("pytorch-ood") and origin("openood:knn").startswith("openood")
    JudgedSpec(architecture="small", detectors=(entry, DetectorSpec("openood:odin")))
    JudgedSpec(backbone="embedded", detectors=(entry, DetectorSpec("pytorch-ood:MCM")))
    with pytest.raises(OpenworldError, match="needs images, which a two-tower model"):
        JudgedSpec(backbone="embedded", detectors=(DetectorSpec("openood:odin"),))
    with pytest.raises(OpenworldError, match="needs texts"):
        JudgedSpec(architecture="small", detectors=(DetectorSpec("pytorch-ood:MCM"),))


def test_by_the_command(tmp_path):
    import openworld as ow

    for name, seen, count in (("mine", training(), 160), ("others", judged("ood"), 0)):
        parts = np.array(["train"] * count + ["validation"] * 20 + ["test"] * 20) if count else None
        columns = {"features": seen.features.numpy(), "labels": seen.labels.numpy() if count else None, "part": parts}
        np.savez(tmp_path / f"{name}.npz", **{key: value for key, value in columns.items() if value is not None})
    np.savez(tmp_path / "head.npz", weight=head().weight.numpy(), bias=head().bias.numpy())
    labels = ("KNN:k=3", "pytorch-ood:KNN:k=3", "openood:knn:K=3")
    model, others = str(tmp_path / "head.npz"), str(tmp_path / "others.npz")
    report = ow.detect(
        id=str(tmp_path / "mine.npz"),
        model=model,
        ood=[f"far={others}"],
        detector=labels,
        out=tmp_path / "out",
        flag_rate=0.5,
        quiet=True,
    )
    found = [report.results.value(label, "auroc", group="far").value for label in labels]
    assert found == pytest.approx(found[:1] * 3)
    flagged = [
        ow.detect(others, apply=tmp_path / "out", detector=[label], quiet=True).found.flagged for label in labels
    ]
    assert flagged[0].any() and all((own == flagged[0]).all() for own in flagged)
