"""Classifiers in files of other tools: the logits of the network itself, and code only where it is allowed."""

import json
import warnings

import numpy as np
import pytest
import torch
from made_up import NAMES, image_set
from torch import nn

from openworld import OpenworldError, detectors
from openworld.classifiers import Classifier, Preprocess, describe, files, load
from openworld.classifiers.exported import is_exported
from openworld.classifiers.serialization import function_of
from openworld.label_free.benchmark.spec import ModelSpec
from openworld.ood.model_entries import DetectorSpec, JudgedSpec

PREPARED = Preprocess(20, 16, "shortest", (0.5,) * 3, (0.25,) * 3)
ALLOWED = {"mine.pt2": "torch.export", "one.pt2": "torch.export", "mine.onnx": None}


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)).eval()


def write_onnx(path):
    """The network as ONNX, node by node: torch's own exporter needs a package that nothing else here does."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    state = {name: numpy_helper.from_array(value.numpy(), name) for name, value in network().state_dict().items()}
    nodes = [
        helper.make_node("Conv", ["pixels", "0.weight", "0.bias"], ["convolved"]),
        helper.make_node("Relu", ["convolved"], ["positive"]),
        helper.make_node("GlobalAveragePool", ["positive"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("Gemm", ["flat", "4.weight", "4.bias"], ["logits"], transB=1),
    ]
    given = [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n", 3, 16, 16])]
    made = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", 3])]
    graph = helper.make_graph(nodes, "network", given, made, list(state.values()))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("exported")
    pixels = torch.zeros(2, 3, 16, 16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        any_batch = {0: torch.export.Dim("batch")}
        torch.export.save(torch.export.export(network(), (pixels,), dynamic_shapes=(any_batch,)), place / "mine.pt2")
        torch.export.save(torch.export.export(network(), (pixels[:1],)), place / "one.pt2")
    for name in ALLOWED:
        describe(place / name, NAMES, PREPARED)
    return place


def loaded(folder, name):
    if name.endswith(".onnx"):
        pytest.importorskip("onnxruntime")
        write_onnx(folder / name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return load(folder / name, architecture=ALLOWED[name])


@pytest.mark.parametrize("name", ALLOWED)
def test_logits_are_those_of_the_network_for_any_number_of_images(folder, name):
    own = Classifier(network(), NAMES, PREPARED, "network")
    exported = loaded(folder, name)
    for count in (1, 5):
        images = image_set(count)
        np.testing.assert_allclose(exported.logits(images, batch_size=3), own.logits(images), atol=1e-5)
    assert exported.classnames == NAMES and exported.fingerprint == loaded(folder, name).fingerprint


def test_a_file_that_may_run_code_is_not_loaded_unasked(folder, monkeypatch):
    monkeypatch.setattr("torch.export.load", None)
    assert function_of(folder / "mine.pt2") == "torch.export"
    with pytest.raises(OpenworldError, match="may run code.*--architecture torch.export"):
        load(folder / "mine.pt2")


def test_a_file_without_a_description_says_what_to_write(tmp_path):
    (tmp_path / "bare.onnx").write_bytes(b"")
    with pytest.raises(OpenworldError, match=r"bare.json, such as .*classnames") as refusal:
        load(tmp_path / "bare.onnx")
    example = str(refusal.value).partition("such as ")[2].rstrip(".")
    assert Preprocess(**json.loads(example)["preprocess"]).crop == 224


@pytest.mark.parametrize("content", ['{"classnames": ["a", "b"]}', "{"])
def test_a_description_of_something_else_is_refused(tmp_path, content):
    (tmp_path / "bare.onnx").write_bytes(b"")
    (tmp_path / "bare.json").write_text(content)
    with pytest.raises(OpenworldError, match="bare.json describes no classifier"):
        load(tmp_path / "bare.onnx")


TORN = [
    *((name, ALLOWED[name], "cannot be loaded as") for name in ALLOWED),
    ("mine.pt", None, "TorchScript.*torch.export.save.*ONNX.*state_dict"),
    ("mine.pkl", None, "pickle.*export the model.*state_dict"),
]


@pytest.mark.parametrize(("name", "allowed", "words"), TORN)
def test_a_torn_file_and_formats_that_may_run_code_are_refused(tmp_path, name, allowed, words):
    if name.endswith(".onnx"):
        pytest.importorskip("onnxruntime")
    (tmp_path / name).write_bytes(b"torn")
    describe(tmp_path / name, NAMES, PREPARED)
    assert is_exported(tmp_path / name) or words.startswith("pickle")
    with pytest.raises(OpenworldError, match=words):
        load(tmp_path / name, architecture=allowed)


def test_another_side_than_it_was_exported_for(folder, tmp_path):
    path = tmp_path / "mine.pt2"
    path.write_bytes((folder / "mine.pt2").read_bytes())
    describe(path, NAMES, Preprocess(20, 14, "shortest", (0.5,) * 3, (0.25,) * 3))
    with pytest.raises(OpenworldError, match="side that it was exported for"):
        load(path, architecture="torch.export").logits(image_set())


def test_a_detector_of_logits_sees_those_of_the_file(folder):
    pixels, exported = torch.rand(4, 3, 16, 16), loaded(folder, "mine.pt2").module
    watched = detectors.watch(exported, pixels[:2])
    with torch.no_grad():
        assert torch.equal(watched.see(pixels).logits, exported(pixels))
    with pytest.raises(OpenworldError, match="is a file already"):
        files(loaded(folder, "mine.pt2"))


def test_detectors_of_logits_alone_are_judged_on_an_exported_file(folder):
    file = str(folder / "mine.pt2")
    spec = JudgedSpec(architecture="torch.export", weights=file)
    assert spec.label == ModelSpec(architecture="torch.export", weights=file).label == file
    assert {detector.detector for detector in spec.detectors} == {"MSP", "MaxLogit", "Energy", "GEN"}
    with pytest.raises(OpenworldError, match="KNN needs.*logits alone"):
        JudgedSpec(weights=str(folder / "mine.pt2"), detectors=(DetectorSpec("KNN"),))
