"""`openworld predict`: what a saved learner says about images, and what it refuses."""

import json
import math
import sys

import numpy as np
import pytest
import torch
from every_output import save
from in_process import openworld, refused
from PIL import Image
from safetensors.torch import load_file, save_file

from openworld import backbones, datasets
from openworld.datasets.formats.folder import find_images, images_of_paths
from openworld.features import Encoding, encode
from openworld.learners import LEARNERS, FittedLearner, Schedule, ZeroShot, encoding_for
from openworld.own_data.predict import prediction_inputs, true_classes
from openworld.runs import RunStore, Unit, UnitResult, execute
from openworld.tables.stream import read_stream

SHORT = Schedule(epochs=1, batch_size=4)


def predict(*arguments):
    return openworld("predict", *arguments)


def predicted(*arguments):
    """What is predicted, as JSON holds it."""
    done = predict(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def clip():
    return backbones.load("embedded")


@pytest.fixture(scope="module")
def fit(clip, tmp_path_factory, shared_cache):
    """Fits a learner on one shot of four classes and gives it back with the folder it is saved in."""
    images = datasets.load("emoji-groups", part="train", shots=1)
    base, _ = datasets.base_new_split(len(images.classnames))
    images = images.subset(np.flatnonzero(np.isin(images.labels, base)))

    def fitted_and_saved(learner):
        folder = tmp_path_factory.mktemp("saved") / "learner"
        encoding = encoding_for(learner, Encoding(views=1, crop_scale=(0.5, 1.0)))
        fitted = learner.fit(clip, encode(clip, images, encoding, cache=shared_cache).of_classes(base), seed=1)
        fitted.save(folder)
        return fitted, folder

    return fitted_and_saved


@pytest.fixture(scope="module")
def coop(fit):
    return fit(LEARNERS["CoOp"](context_length=2, schedule=SHORT))


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """Five images in a folder and one below it, and a file that is no image."""
    folder = tmp_path_factory.mktemp("images")
    test = datasets.load("emoji-groups")
    (folder / "more").mkdir()
    for number in range(5):
        test.image(30 * number).save(folder / ("more" if number == 4 else "") / f"image-{number}.png")
    (folder / "read me.txt").write_text("no image")
    return folder


def expected(fitted, embedding, names):
    text = fitted.text_bank(names[:4], names[4:]).text.numpy()
    logits = float(fitted.clip.logit_scale) * (embedding / np.linalg.norm(embedding)) @ text.T
    weights = np.exp(logits[0] - logits.max())
    return weights / weights.sum()


def test_json_holds_what_the_learner_says(coop, images, clip, tmp_path):
    fitted, folder = coop
    (tmp_path / "names.txt").write_text("violin\n\n")
    (tmp_path / "torn.png").write_bytes(b"no image")
    both = (images, tmp_path / "torn.png", "--new-names", tmp_path / "names.txt", "--top", "2", "--threshold", "0.6")
    refused("torn.png", "predict", folder, *both, code=1)
    found = predicted(folder, *both, "--allow-corrupt", "1")
    assert found["unreadable"] == 1 and "1 of 6 images could not be read" in " ".join(found["verdict"])
    names = (*fitted.classnames, "violin")
    assert (found["learner"], found["backbone"], found["new_names"]) == ("CoOp", "embedded", ["violin"])
    assert found["base_names"] == list(fitted.classnames)
    zero_shot = FittedLearner(ZeroShot(), clip, fitted.classnames, {})
    for each in found["images"]:
        with Image.open(each["image"]) as image:
            embedding = clip.encode_image(clip.preprocess(image)[None]).numpy()
        for learner, guesses in ((fitted, each["guesses"]), (zero_shot, each["zero_shot"])):
            probabilities = expected(learner, embedding, names)
            best = np.argsort(-probabilities)[:2]
            assert [guess["name"] for guess in guesses] == [names[place] for place in best]
            np.testing.assert_allclose([guess["probability"] for guess in guesses], probabilities[best], atol=1e-4)
            assert [guess["side"] for guess in guesses] == ["new" if place == 4 else "base" for place in best]
        of_base = expected(fitted, embedding, names)[:4]
        assert each["baseness"] == pytest.approx(math.exp(each["log_baseness"]))
        assert each["baseness"] == pytest.approx(of_base.max(), abs=1e-4)
        assert each["looks"] == ("new" if each["baseness"] < 0.6 else "base")
        assert each["called"] == ("violin" if each["looks"] == "new" else names[of_base.argmax()])
    by_place = sorted(found["images"], key=lambda each: each["place"])
    assert [each["place"] for each in by_place] == [1, 2, 3, 4, 5]
    assert [each["baseness"] for each in by_place] == sorted((each["baseness"] for each in by_place), reverse=True)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["{empty}", "{images}"], "holds no learner.json and no run.json"),
        (["{folder}", "{images}", "--run-names"], "is not the folder of a run"),
        (["{folder}", "{images}", "--unit", "CoOp, seed 1"], "holds a single learner"),
        (["{folder}", "{images}", "--out", "{empty}/stream.npz"], "needs new names"),
        (["{folder}", "{images}", "--labelled", "--new", "owl"], "without --out"),
        (["{folder}", "{images}", "--labelled", "--new", "owl", "--out", "{empty}/stream.npz"], "neither base nor new"),
    ],
)
def test_wrong_use_is_told_before_an_image_is_read(coop, images, tmp_path, arguments, sentence):
    places = {"folder": coop[1], "images": images, "empty": tmp_path}
    refused(sentence, "predict", *(word if "{}" in word else word.format(**places) for word in arguments))
    assert not list(tmp_path.iterdir())


def test_other_weights_and_damaged_learners_are_refused(coop, clip, images, tmp_path):
    text = (coop[1] / "learner.json").read_text()
    tensors = load_file(coop[1] / "parameters.safetensors")
    spoilt = {"context": tensors["context"].clone().index_fill_(0, torch.tensor([0]), float("nan"))}
    for changed, values, sentence in (
        (text.replace(clip.fingerprint, "0" * 8), tensors, "with other weights"),
        (text.replace('"backbone"', "{"), tensors, "holds no whole learner"),
        (text, tensors | spoilt, "context holds NaN"),
    ):
        (tmp_path / "learner.json").write_text(changed)
        save_file(values, tmp_path / "parameters.safetensors")
        refused(sentence, "predict", tmp_path, images)


def kept(files, learner, seed):
    """Stands for the unit of a run: keeps a fitted learner among its attachments."""
    files = {f"learner/{name}": bytes.fromhex(data) for name, data in files.items()}
    about = {"classnames": ["a", "b", "c", "d", "owl", "violin"], "n_base_classes": 4}
    return UnitResult(metrics=about, attachments=files)


@pytest.fixture
def run(coop, tmp_path, monkeypatch):
    """Makes a run's folder in which some units keep the learner."""
    monkeypatch.setitem(sys.modules, "units_that_keep", sys.modules[__name__])
    files = {path.name: path.read_bytes().hex() for path in coop[1].iterdir()}

    def made(*names, keep=True):
        store = RunStore(tmp_path / "run")
        store.create({}, {"dataset": "emoji-groups"}, {})
        given = [{"files": files if keep else {}, "learner": name, "seed": 1} for name in names]
        units = [Unit("units_that_keep:kept", each, name=f"{each['learner']}, seed 1") for each in given]
        execute(units, store)
        return tmp_path / "run"

    return made


def test_learners_of_a_run(run, images):
    assert "keep_learners = true" in predict(run("GMoP", keep=False), images).output
    done = predict(run("CoOp"), images, "--run-names")
    assert done.exit_code == 0 and "4 base names, 2 new" in done.output, done.output
    assert 'CLIP: "an icon of a {}."' in done.output


def test_one_of_several_learners_of_a_run_and_a_damaged_one(run, images):
    folder = run("CoOp", "GMoP")
    for options in ((), ("--unit", "GMoP")):
        refused("choose one with --unit: CoOp, seed 1; GMoP, seed 1.", "predict", folder, images, *options)
    assert predict(folder, images, "--unit", "GMoP, seed 1").exit_code == 0
    record = RunStore(folder).records()[0]
    parameters = record.folder / "attachments" / "learner" / "parameters.safetensors"
    parameters.write_bytes(parameters.read_bytes()[:-1] + b"!")
    done = predict(folder, images, "--unit", "CoOp, seed 1")
    assert done.exit_code == 2 and "is damaged" in done.output and "parameters.safetensors" in done.output
    (record.folder / "record.json").write_text("{}")
    refused("1 fitted learners and 1 damaged record(s)", "predict", folder, images)
    assert predict(folder, images, "--unit", "GMoP, seed 1").exit_code == 0


def test_a_stream_keeps_what_the_learner_says_and_the_class_folders(coop, tmp_path):
    """Of an image of each of four base and two new classes, in folders named after them."""
    (fitted, folder), images, out = coop, tmp_path / "images", tmp_path / "stream.csv"
    test = datasets.load("emoji-groups")
    new = tuple(name for name in test.classnames if name not in fitted.classnames)[:2]
    first = np.unique(test.labels, return_index=True)[1]  # an image of each class
    save(images, test.subset([first[test.classnames.index(name)] for name in (*fitted.classnames, *new)]))
    done = predict(folder, images, "--new", new[0], "--new", new[1], "--labelled", "--out", out)
    assert done.exit_code == 0 and done.output.splitlines()[-1].endswith(out.name), done.output
    stream = read_stream(out)
    assert stream.base_names == fitted.classnames and stream.new_names == new
    features = encode(fitted.clip, images_of_paths(find_images([images])), cache=tmp_path)
    answer = fitted.answer(features, fitted.text_bank(fitted.classnames, new))
    np.testing.assert_allclose(stream.scores, answer.baseness, rtol=1e-6)
    np.testing.assert_allclose(stream.logits, answer.logits, rtol=1e-5)
    assert stream.reference_kind == "zero-shot" and stream.reference.shape == stream.logits.shape
    assert stream.labels.known.all() and stream.labels.base.sum() == 4
    assert {stream.names[label] for label in stream.labels.label} == {*fitted.classnames, *new}


def test_the_images_of_a_data_set_have_its_labels(coop):
    fitted, folder = coop
    noto = datasets.load("emoji-groups", domain="noto")
    new = tuple(name for name in noto.classnames if name not in fitted.classnames)
    inputs = prediction_inputs(folder, ["emoji-groups/noto"], new=new)
    sides, classes = true_classes(inputs)
    assert classes == [noto.classnames[label] for label in noto.labels] and len(inputs.paths) == len(noto.labels)
    assert sides == ["base" if name in fitted.classnames else "new" for name in classes]
