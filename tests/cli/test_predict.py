"""`openworld predict`: what a saved learner says about pictures, and what it refuses."""

import csv
import io
import json
import math
import tempfile

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

from openworld import backbones, datasets
from openworld.cli.app import app
from openworld.cli.in_process import CliRunner
from openworld.datasets.formats import unlabelled_folder
from openworld.features import Encoding, encode
from openworld.learners import LEARNERS, Schedule, ZeroShot, encoding_for
from openworld.own_data.predict import prediction_inputs, true_classes
from openworld.runs import RunStore, Unit, UnitResult, execute
from openworld.tables.stream import read_stream

SHORT = Schedule(epochs=1, batch_size=4)


def predict(*arguments):
    return CliRunner().invoke(app, ["predict", *map(str, arguments)])


@pytest.fixture(scope="module")
def clip():
    return backbones.load("embedded")


@pytest.fixture(scope="module")
def fit(clip, tmp_path_factory):
    """Fits a learner on one shot of four classes and gives it back with the folder it is saved in."""
    images = datasets.load("emoji-groups", part="train", shots=1)
    base, _ = datasets.base_new_split(len(images.classnames))
    images = images.subset(np.flatnonzero(np.isin(images.labels, base)))

    def fitted_and_saved(learner):
        folder = tmp_path_factory.mktemp("saved")
        encoding = encoding_for(learner, Encoding(views=1, crop_scale=(0.5, 1.0)))
        features = encode(clip, images, encoding, cache=folder / "cache").of_classes(base)
        fitted = learner.fit(clip, features, seed=1)
        fitted.save(folder / "learner")
        return fitted, folder / "learner"

    return fitted_and_saved


@pytest.fixture(scope="module")
def coop(fit):
    return fit(LEARNERS["CoOp"](context_length=2, schedule=SHORT))


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """Five pictures in a folder and one below it, and a file that is no picture."""
    folder = tmp_path_factory.mktemp("pictures")
    test = datasets.load("emoji-groups")
    (folder / "more").mkdir()
    for number in range(5):
        test.image(30 * number).save(folder / ("more" if number == 4 else "") / f"picture-{number}.png")
    (folder / "read me.txt").write_text("not a picture")
    return folder


def test_a_row_per_picture_with_names_baseness_and_zero_shot(coop, pictures):
    done = predict(coop[1], pictures, "--new", "lighthouse", "--new", "violin")
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[0] == "CoOp on 'embedded' · 4 base names, 2 new · 5 images"
    assert lines[3].split() == ["image", "baseness", "(log)", "place", "CoOp", "zero-shot", "CLIP"]
    assert sum("picture-" in line for line in lines) == 5
    assert "a photo of a {}." in lines[-1]
    assert max(map(len, lines[:-1])) <= 160


def test_a_learner_fitted_in_half_precision_is_asked_in_it(pictures, tmp_path):
    half = backbones.load("embedded", dtype=torch.bfloat16)
    shots = encode(half, datasets.load("emoji-groups", part="train", shots=1), cache=tmp_path / "cache")
    ZeroShot().fit(half, shots, seed=1).save(tmp_path / "learner")
    done = predict(tmp_path / "learner", pictures, "--json")
    assert done.exit_code == 0, done.output
    assert len(json.loads(done.output)["pictures"]) == 5


def test_json_holds_what_the_learner_says(coop, pictures, clip):
    fitted, folder = coop
    done = predict(folder, pictures, "--new", "violin", "--json", "--top", "2", "--threshold", "0.6")
    told = json.loads(done.output)
    names = (*fitted.classnames, "violin")
    assert (told["learner"], told["backbone"], told["new_names"]) == ("CoOp", "embedded", ["violin"])
    assert told["base_names"] == list(fitted.classnames)
    for one in told["pictures"]:
        with Image.open(one["picture"]) as picture:
            embedding = clip.encode_image(clip.preprocess(picture)[None]).numpy()
        for learner, guesses in ((fitted, one["guesses"]), (zero_shot(fitted), one["zero_shot"])):
            probabilities = expected(learner, embedding, names)
            best = np.argsort(-probabilities)[:2]
            assert [guess["name"] for guess in guesses] == [names[place] for place in best]
            np.testing.assert_allclose([guess["probability"] for guess in guesses], probabilities[best], atol=1e-4)
            assert [guess["side"] for guess in guesses] == ["new" if place == 4 else "base" for place in best]
        assert one["baseness"] == pytest.approx(math.exp(one["log_baseness"]))
        assert one["baseness"] == pytest.approx(expected(fitted, embedding, names)[:4].max(), abs=1e-4)
        assert one["looks"] == ("new" if one["baseness"] < 0.6 else "base")
        own = expected(fitted, embedding, names)[:4].argmax()
        assert one["called"] == ("violin" if one["looks"] == "new" else names[own])
    by_place = sorted(told["pictures"], key=lambda one: one["place"])
    assert [one["place"] for one in by_place] == [1, 2, 3, 4, 5]
    assert [one["baseness"] for one in by_place] == sorted((one["baseness"] for one in by_place), reverse=True)


def zero_shot(fitted):
    from openworld.learners import FittedLearner

    return FittedLearner(ZeroShot(), fitted.clip, fitted.classnames, {})


def expected(fitted, embedding, names):
    text = fitted.text_bank(names[:4], names[4:]).text.numpy()
    logits = float(fitted.clip.logit_scale) * (embedding / np.linalg.norm(embedding)) @ text.T
    weights = np.exp(logits[0] - logits.max())
    return weights / weights.sum()


def test_csv_has_a_line_per_picture(coop, pictures):
    done = predict(coop[1], pictures / "picture-0.png", pictures / "picture-1.png", "--csv", "--top", "2")
    rows = list(csv.DictReader(io.StringIO(done.output)))
    assert [row["picture"].rpartition("/")[2] for row in rows] == ["picture-0.png", "picture-1.png"]
    assert rows[0]["side"] == "base" and rows[0]["name_2"] and rows[0]["looks"] == ""
    assert float(rows[0]["probability"]) > float(rows[0]["probability_2"])
    assert float(rows[0]["zero_shot_probability"]) <= 1


def test_quiet_is_the_table_alone(coop, pictures):
    lines = predict(coop[1], pictures / "picture-0.png", "--quiet", "--threshold", "1").output.splitlines()
    assert len(lines) == 4
    assert lines[1].split()[:2] == ["image", "baseness"] and " looks " in lines[1] and " new " in lines[2]


@pytest.mark.parametrize(("name", "settings"), [("VPT", {"depth": 1}), ("LoCoOp", {"context_length": 2})])
def test_pixels_and_patches_are_encoded_where_they_are_needed(fit, pictures, name, settings):
    _, folder = fit(LEARNERS[name](schedule=SHORT, **settings))
    done = predict(folder, pictures, "--json")
    assert len(json.loads(done.output)["pictures"]) == 5


def test_nothing_is_left_on_disk(coop, pictures, tmp_path, monkeypatch):
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    assert predict(coop[1], pictures).exit_code == 0
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_names_come_from_a_file_too(coop, pictures, tmp_path):
    (tmp_path / "names.txt").write_text("violin\n\n  sea turtle \n")
    done = predict(coop[1], pictures, "--new-names", tmp_path / "names.txt", "--new", "owl", "--json")
    assert json.loads(done.output)["new_names"] == ["owl", "violin", "sea turtle"]


def test_the_sentence_is_the_learners_or_the_one_that_is_given(fit, pictures):
    _, folder = fit(LEARNERS["KgCoOp"](template="an icon of a {}.", schedule=SHORT))
    assert 'CLIP: "an icon of a {}."' in predict(folder, pictures).output
    assert 'CLIP: "{} texture."' in predict(folder, pictures, "--template", "{} texture.").output


def test_names_and_paths_are_text_never_markup(coop, pictures, tmp_path):
    file = tmp_path / "[red]x.png"
    file.write_bytes((pictures / "picture-0.png").read_bytes())
    done = predict(coop[1], file, "--new", "[bold]owl", "--top", "9")
    assert "[red]x.png" in done.output and "[bold]owl (new)" in done.output


def test_unreadable_pictures_stop_it_unless_they_are_allowed(coop, pictures, tmp_path):
    (tmp_path / "torn.png").write_bytes(b"no picture")
    torn, good = tmp_path / "torn.png", pictures / "picture-0.png"
    done = predict(coop[1], good, torn)
    assert done.exit_code == 1 and "torn.png" in done.output
    allowed = predict(coop[1], good, torn, "--allow-corrupt", "1")
    assert allowed.exit_code == 0 and "1 of 2 images could not be read" in allowed.output
    assert json.loads(predict(coop[1], good, torn, "--allow-corrupt", "1", "--json").output)["unreadable"] == 1
    assert "none of the 1 images could be read" in predict(coop[1], torn, "--allow-corrupt", "1").output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["{folder}", "nowhere.png"], "there is no file or folder nowhere.png"),
        (["{folder}", "{empty}"], "holds no image ending in"),
        (["{empty}", "{pictures}"], "holds no learner.json and no run.json"),
        (["{folder}", "{pictures}", "--json", "--csv"], "choose one"),
        (["{folder}", "{pictures}", "--new", "Animals_nature"], "'animals nature' occurs 2 times"),
        (["{folder}", "{pictures}", "--new-names", "none.txt"], "there is no file none.txt"),
        (["{folder}", "{pictures}", "--run-names"], "is not the folder of a run"),
        (["{folder}", "{pictures}", "--unit", "CoOp, seed 1"], "holds a single learner"),
        (["{folder}", "{pictures}", "--device", "gpu"], "unknown device 'gpu'"),
        (["{folder}", "{pictures}", "--backbone", "embeded"], "did you mean 'embedded'"),
        (["{folder}", "{pictures}", "--template", "a photo"], "must hold {} once"),
        (["{folder}", "{pictures}", "--threshold", "2"], ""),
        (["{folder}", "{pictures}", "--top", "0"], ""),
    ],
)
def test_wrong_use_is_told_with_exit_code_2(coop, pictures, tmp_path, arguments, sentence):
    places = {"folder": coop[1], "pictures": pictures, "empty": tmp_path}
    done = predict(*(argument if "{}" in argument else argument.format(**places) for argument in arguments))
    assert done.exit_code == 2, done.output
    assert sentence in done.output


def test_other_weights_and_damaged_learners_are_refused(coop, clip, pictures, tmp_path):
    for damage, sentence in ((clip.fingerprint, "with other weights"), ('"backbone"', "holds no whole learner")):
        for file in ("learner.json", "parameters.safetensors"):
            (tmp_path / file).write_bytes((coop[1] / file).read_bytes())
        text = (tmp_path / "learner.json").read_text()
        (tmp_path / "learner.json").write_text(text.replace(damage, "0" * 8 if damage.isalnum() else "{"))
        done = predict(tmp_path, pictures)
        assert (done.exit_code, sentence in done.output) == (2, True), done.output


def test_a_learner_that_holds_no_numbers_is_refused(coop, pictures, tmp_path):
    tensors = load_file(coop[1] / "parameters.safetensors")
    tensors["context"][0, 0] = float("nan")
    save_file(tensors, tmp_path / "parameters.safetensors")
    (tmp_path / "learner.json").write_bytes((coop[1] / "learner.json").read_bytes())
    done = predict(tmp_path, pictures)
    assert done.exit_code == 2 and "context holds NaN" in done.output


def kept(files, learner, seed):
    """Stands for the unit of a run: keeps a fitted learner among its attachments."""
    files = {f"learner/{name}": bytes.fromhex(data) for name, data in files.items()} if files else {}
    return UnitResult(
        metrics={"classnames": ["a", "b", "c", "d", "owl", "violin"], "n_base_classes": 4}, attachments=files
    )


@pytest.fixture
def run(coop, tmp_path, monkeypatch):
    """Makes a run's folder in which some units keep the learner."""
    import sys

    monkeypatch.setitem(sys.modules, "units_that_keep", sys.modules[__name__])
    files = {path.name: path.read_bytes().hex() for path in coop[1].iterdir()}

    def made(*names, keep=True):
        store = RunStore(tmp_path / "run")
        store.create({}, {"dataset": "emoji-groups"}, {})
        given = [{"files": files if keep else {}, "learner": name, "seed": 1} for name in names]
        units = [Unit("units_that_keep:kept", one, name=f"{one['learner']}, seed 1") for one in given]
        execute(units, store)
        return tmp_path / "run"

    return made


def test_the_learner_of_a_run(run, pictures):
    done = predict(run("CoOp"), pictures, "--run-names")
    assert done.exit_code == 0, done.output
    assert "4 base names, 2 new" in done.output
    assert 'CLIP: "an icon of a {}."' in done.output


def test_one_of_several_learners_of_a_run(run, pictures):
    folder = run("CoOp", "GMoP")
    for asked in ((), ("--unit", "GMoP")):
        done = predict(folder, pictures, *asked)
        assert (done.exit_code, "choose one with --unit: CoOp, seed 1; GMoP, seed 1." in done.output) == (2, True)
    assert predict(folder, pictures, "--unit", "GMoP, seed 1").exit_code == 0


def test_a_run_that_kept_no_learner(run, pictures):
    assert "keep_learners = true" in predict(run("CoOp", keep=False), pictures).output


@pytest.mark.parametrize(
    ("names", "asked"), [(("CoOp",), ()), (("CoOp",), ("CoOp, seed 1",)), (("CoOp", "GMoP"), ("CoOp, seed 1",))]
)
def test_a_learner_that_is_not_the_one_written_is_damaged(run, pictures, names, asked):
    folder = run(*names)
    record = RunStore(folder).records()[0]
    parameters = record.folder / "attachments" / "learner" / "parameters.safetensors"
    parameters.write_bytes(parameters.read_bytes()[:-1] + b"!")
    done = predict(folder, pictures, *(("--unit", *asked) if asked else ()))
    assert done.exit_code == 2 and "is damaged" in done.output and "parameters.safetensors" in done.output


def test_beside_a_damaged_learner_the_whole_one_is_not_chosen_unasked(run, pictures):
    folder = run("CoOp", "GMoP")
    (RunStore(folder).records()[0].folder / "record.json").write_text("{}")
    done = predict(folder, pictures)
    assert done.exit_code == 2 and "1 fitted learners and 1 damaged record(s)" in done.output
    assert predict(folder, pictures, "--unit", "GMoP, seed 1").exit_code == 0


@pytest.fixture(scope="module")
def class_folders(coop, tmp_path_factory):
    """An image of each of four base and two new classes, in folders named after them; the new names."""
    folder = tmp_path_factory.mktemp("classes")
    test = datasets.load("emoji-groups")
    new = tuple(name for name in test.classnames if name not in coop[0].classnames)[:2]
    for name in (*coop[0].classnames, *new):
        row = int(np.flatnonzero(test.labels == test.classnames.index(name))[0])
        (folder / name.replace(" ", "_")).mkdir()
        test.image(row).save(folder / name.replace(" ", "_") / "image.png")
    return folder, new


def naming(names):
    return [word for name in names for word in ("--new", name)]


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".npz", ".safetensors"])
def test_a_stream_keeps_what_the_learner_says_and_the_class_folders(coop, class_folders, tmp_path, ending):
    fitted, folder = coop
    images, new = class_folders
    out = tmp_path / f"stream{ending}"
    done = predict(folder, images, *naming(new), "--labelled", "--out", out)
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1].endswith(out.name)
    stream = read_stream(out)
    assert stream.base_names == fitted.classnames and stream.new_names == new
    features = encode(fitted.clip, unlabelled_folder.load(unlabelled_folder.find_pictures([images])), cache=tmp_path)
    answer = fitted.answer(features, fitted.text_bank(fitted.classnames, new))
    np.testing.assert_allclose(stream.scores, answer.baseness, rtol=1e-6)
    np.testing.assert_allclose(stream.logits, answer.logits, rtol=1e-5)
    assert stream.reference_kind == "zero-shot" and stream.reference.shape == stream.logits.shape
    assert stream.labels.known.all() and stream.labels.base.sum() == 4
    assert {stream.names[label] for label in stream.labels.label} == {*fitted.classnames, *new}


def test_a_learner_with_base_logits_of_its_own_writes_them(fit, class_folders, tmp_path):
    fitted, folder = fit(LEARNERS["DePT"](schedule=SHORT))
    images, new = class_folders
    assert predict(folder, images, *naming(new), "--out", tmp_path / "stream.npz").exit_code == 0
    stream = read_stream(tmp_path / "stream.npz")
    assert not np.allclose(stream.base_logits, stream.logits[:, :4])
    assert stream.labels is None


def test_the_images_of_a_data_set_have_its_labels(coop):
    fitted, folder = coop
    names = datasets.load("emoji-groups").classnames
    new = tuple(name for name in names if name not in fitted.classnames)
    inputs = prediction_inputs(folder, ["emoji-groups/noto"], new=new)
    labels = datasets.load("emoji-groups", domain="noto").labels
    sides, classes = true_classes(inputs)
    assert classes == [names[label] for label in labels] and len(inputs.paths) == len(labels)
    assert sides == ["base" if name in fitted.classnames else "new" for name in classes]


def test_streams_that_will_not_do_are_refused_before_an_image_is_read(coop, class_folders, tmp_path):
    images, new = class_folders
    for arguments, message in (
        (["--out", tmp_path / "stream.txt", *naming(new)], "ending in"),
        (["--out", tmp_path / "stream.npz"], "needs new names"),
        (["--labelled", *naming(new)], "without --out"),
        (["--labelled", "--out", tmp_path / "stream.npz", *naming(new[:1])], "neither base nor new"),
    ):
        done = predict(coop[1], images, *arguments)
        assert done.exit_code == 2 and message in " ".join(done.output.split()), done.output
    assert not list(tmp_path.iterdir())
