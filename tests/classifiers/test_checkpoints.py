"""State dicts in torchvision's layout and models of timm's as classifiers: what they compute, and what is refused."""

import sys
from types import ModuleType

import pytest
import torch
from made_up import NAMES, create_model, image_set
from torch import nn
from torchvision_weights import resnet, resnet_logits, transformer, transformer_logits

from openworld import OpenworldError
from openworld.classifiers import Preprocess, describe, from_checkpoint, load
from openworld.classifiers.checkpoints import is_checkpoint, named_after
from openworld.classifiers.torchvision_networks import network_of

LAYOUTS = {
    "basic": {"counts": (2, 2, 2, 2)},
    "bottleneck": {"counts": (3, 4, 6, 3), "deep": True},
    "grouped": {"counts": (1, 1, 1, 1), "deep": True, "groups": 4},
    "small": {"counts": (1, 1, 1, 1), "stem": 3},
}
TITLES = {"basic": "ResNet-18", "bottleneck": "ResNet-50", "grouped": "ResNet of 1-1-1-1 blocks"}


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def save(weights, path):
    torch.save(weights, path)
    return path


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_resnet_computes_what_its_weights_say(layout, tmp_path):
    weights, pixels = resnet(classes=5, **LAYOUTS[layout]), torch.randn(3, 3, 40, 40)
    path = save(weights, tmp_path / "mine.pth")
    describe(path, tuple("abcde"), Preprocess(40, 40, "shortest", (0.5,) * 3, (0.25,) * 3))
    classifier = load(path)
    assert torch.allclose(classifier.module(pixels), resnet_logits(weights, pixels), atol=1e-4)
    assert network_of(weights).title == TITLES.get(layout, "ResNet of 1-1-1-1 blocks")
    assert classifier.classnames == tuple("abcde") and classifier.side == 40


def test_a_transformer_computes_what_its_weights_say(tmp_path):
    weights, pixels = transformer(5), torch.randn(2, 3, 32, 32)
    classifier = load(save(weights, tmp_path / "vit.pth"))
    wanted = transformer_logits(weights, pixels, heads=3)
    assert torch.allclose(classifier.module(pixels), wanted, atol=1e-3)
    assert (classifier.architecture, classifier.side) == ("ViT-Ti/16", 32)
    older = {name.replace(".mlp.0.", ".mlp.linear_1.").replace(".mlp.3.", ".mlp.linear_2."): tensor
             for name, tensor in weights.items()}  # fmt: skip
    assert torch.equal(load(save(older, tmp_path / "older.pth")).module(pixels), classifier.module(pixels))


@pytest.mark.parametrize(
    ("name", "width", "heads"),
    [("ViT-S/16", 384, 6), ("ViT-B/16", 768, 12), ("ViT-L/16", 1024, 16)],
)
def test_a_transformer_has_the_heads_of_the_published_one_of_its_width(name, width, heads):
    weights, pixels = transformer(5, width=width, depth=1), torch.randn(1, 3, 32, 32)
    network = network_of(weights).eval()
    network.load_state_dict(weights)
    assert torch.allclose(network(pixels), transformer_logits(weights, pixels, heads), atol=1e-3)
    assert network.title == name


def test_the_number_of_classes_is_that_of_the_head(tmp_path):
    path = save(resnet((1, 1, 1, 1), 7), tmp_path / "mine.pth")
    assert load(path).classnames == tuple(f"class {number}" for number in range(7))
    named = named_after(load(path), tuple("abcdefg"))
    assert named.classnames == tuple("abcdefg") and named_after(named, tuple("hijklmn")) is named
    assert named_after(load(path), NAMES).classnames == load(path).classnames
    with pytest.raises(OpenworldError, match="tells 7 classes apart, by its head, and 3 class names came"):
        from_checkpoint(path, classnames=NAMES)


@pytest.mark.parametrize(
    ("name", "resize"), [("resnet50-0676ba61.pth", 256), ("resnet50-11ad3fa6.pth", 232), ("mine.pth", 256)]
)
def test_images_are_prepared_as_torchvision_states(tmp_path, name, resize):
    prepared = load(save(resnet((1, 1, 1, 1), 3), tmp_path / name)).preprocess
    assert (prepared.resize, prepared.crop, prepared.resample) == (resize, 224, 2)
    assert prepared.mean == (0.485, 0.456, 0.406) and prepared.std == (0.229, 0.224, 0.225)


def test_wrapped_names_and_files_of_trainings_are_read(tmp_path):
    weights = resnet((1, 1, 1, 1), 3, stem=3)
    openood = {name.replace("downsample", "shortcut"): tensor for name, tensor in weights.items()}
    wrapped = {"model": {f"module.{name}": tensor for name, tensor in openood.items()}, "epoch": 3}
    bare = {name: tensor for name, tensor in weights.items() if not name.endswith("num_batches_tracked")}
    logits = []
    for name, held in {"best.ckpt": wrapped, "bare.pth": bare, "whole.pth.tar": {"state_dict": weights}}.items():
        path = save(held, tmp_path / name)
        describe(path, NAMES, Preprocess(16, 16, "shortest", (0.5,) * 3, (0.25,) * 3))
        logits.append(load(path).logits(image_set()))
    assert (logits[0] == logits[1]).all() and (logits[0] == logits[2]).all()


class Stranger(nn.Module):
    """A network of nobody's layout."""

    def __init__(self, classes=3):
        super().__init__()
        self.body, self.top = nn.Conv2d(3, 4, 3), nn.Linear(4, classes)

    def forward(self, pixels):
        return self.top(self.body(pixels).mean((2, 3)))


def test_a_pickled_module_is_refused_and_not_run(tmp_path):
    path = save(Stranger(), tmp_path / "module.pth")
    with pytest.raises(OpenworldError, match="Nothing of it was run.*torch.save\\(model.state_dict\\(\\), FILE\\)"):
        load(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"conv1.weight": torch.zeros(8, 3, 3, 3)}, "mine.json, such as"),  # for small images: no published preparation
        ({"layer2.0.conv2.weight": None}, "no whole state dict: 'layer2.0.conv2.weight' is missing"),
        ({"layer2.0.bn1.bias": None}, r"1 missing \(layer2.0.bn1.bias\)"),
        ({"extra.weight": torch.zeros(2)}, r"1 left over \(extra.weight\)"),
        ({"fc.bias": torch.zeros(4)}, r"1 of another shape \(fc.bias \[4\], expected \[3\]\)"),
        ({"fc.bias": torch.tensor([0.0, float("nan"), 0.0])}, "fc.bias"),
    ],
)
def test_weights_of_another_network_are_refused_by_name(tmp_path, change, said):
    weights = resnet((1, 1, 1, 1), 3) | change
    weights = {name: tensor for name, tensor in weights.items() if tensor is not None}
    with pytest.raises(OpenworldError, match=said):
        load(save(weights, tmp_path / "mine.pth"))


def test_other_networks_need_a_function_and_a_description(tmp_path, monkeypatch):
    path = save(Stranger().state_dict(), tmp_path / "mine.pth")
    with pytest.raises(OpenworldError, match="--architecture timm:NAME, or package.module:function"):
        load(path)
    module = ModuleType("strangers")
    module.net = Stranger
    monkeypatch.setitem(sys.modules, "strangers", module)
    with pytest.raises(OpenworldError, match=r"mine.json, such as .*classnames"):
        load(path, architecture="strangers:net")
    describe(path, NAMES, Preprocess(16, 16, "shortest", (0.5,) * 3, (0.25,) * 3))
    assert load(path, architecture="strangers:net").logits(image_set()).shape == (24, 3)


def test_a_name_of_timm_brings_its_published_weights_and_head(timm):
    classifier = load("timm:tiny")
    assert len(classifier.classnames) == 4 and classifier.module[0].weight.eq(1).all()
    assert (classifier.preprocess.resize, classifier.side) == (20, 16)
    with pytest.raises(OpenworldError, match=r"cannot make 'tinny' with its weights .*list_models"):
        load("timm:tinny")


@pytest.mark.parametrize("classes", [4, 3])
def test_a_state_dict_of_timm_has_the_head_of_its_weights(timm, tmp_path, classes):
    network = create_model("tiny", num_classes=classes)
    classifier = load(save(network.state_dict(), tmp_path / "mine.pth"), architecture="timm:tiny")
    assert len(classifier.classnames) == classes and classifier.side == 16
    assert torch.equal(classifier.module[3].weight, network[3].weight)
    other = save({"fc.weight": torch.zeros(2, 4)}, tmp_path / "other.pth")
    with pytest.raises(OpenworldError, match="no 3.weight, the head of timm:tiny"):
        load(other, architecture="timm:tiny")


def test_which_places_are_checkpoints(tmp_path):
    names = ("a.pth", "a.PTH", "a.pth.tar", "a.ckpt", "a.safetensors", "timm:resnet50", "a.onnx", "a.pkl", "ViT-B/16")
    assert [is_checkpoint(name) for name in names] == [True] * 6 + [False] * 3
    (tmp_path / "folder.pth").mkdir()
    assert not is_checkpoint(tmp_path / "folder.pth")
