"""Models, images and embeddings from Python: the same numbers as the command, and refusals that say what to do."""

import numpy as np
import pandas
import pytest
from PIL import Image
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from torch import nn

import openworld as ow
from openworld import classifiers, datasets

NAMES = ("red", "green", "blue")
PREPARED = classifiers.Preprocess(36, 32, "shortest", (0.5,) * 3, (0.25,) * 3)
FAST = {"estimator": ["AC"], "quiet": True}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("images")
    for number in range(24):
        pixels = np.random.default_rng(number).integers(0, 120, (40, 36, 3))
        pixels[..., number % 3] += 100
        place = root / NAMES[number % 3] / f"{number}.png"
        place.parent.mkdir(exist_ok=True)
        Image.fromarray(pixels.astype(np.uint8)).save(place)
    return root


@pytest.fixture(scope="module")
def frame(folder):
    paths = sorted(folder.rglob("*.png"))
    return pandas.DataFrame({"path": list(map(str, paths)), "label": [path.parent.name for path in paths]})


def network():
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)).eval()


def accuracy(answer):
    (row,) = answer.results.where(entity="AC", metric="estimated_accuracy")
    return row.value.value


def test_images_in_every_form_give_one_number(folder, frame):
    from datasets import ClassLabel, Dataset, Features
    from datasets import Image as ImageFeature

    mine = classifiers.Classifier(network(), NAMES, PREPARED, "mine")
    order = sorted(NAMES)
    rows = {"image": list(frame["path"]), "label": [order.index(name) for name in frame["label"]]}
    listed = Dataset.from_dict(rows, Features({"image": ImageFeature(), "label": ClassLabel(names=order)}))
    forms = (frame, frame.to_dict("list"), listed, datasets.folder.load(folder), folder)
    found = [accuracy(ow.estimate(one, one, model=mine, **FAST)) for one in forms]
    images = datasets.folder.load(folder)
    labels = [NAMES.index(images.classnames[label]) for label in images.labels]
    logits = mine.logits(images)
    scores = ow.estimate({"logits": logits, "labels": labels}, {"logits": logits}, **FAST)
    assert found == pytest.approx([accuracy(scores)] * 5, abs=1e-5)


def test_a_target_needs_no_labels_and_a_model_of_timm_the_names_of_its_classes(frame):
    theirs = network()
    theirs.pretrained_cfg = {"input_size": (3, 32, 32), "mean": (0.5,) * 3, "std": (0.25,) * 3}
    assert ow.estimate(frame, frame[["path"]], model=theirs, classnames=NAMES, **FAST).results
    with pytest.raises(ow.OpenworldError, match="give classnames"):
        ow.estimate(frame, frame, model=theirs, **FAST)


@pytest.mark.parametrize(
    ("model", "changed", "words"),
    [
        (3, {}, "came as int, expected .*two-tower"),
        (network(), {}, "came as Sequential, expected .*two-tower"),
        (DummyClassifier(), {}, "rows of numbers, not images"),
        ("embedded", {"label": 0}, "numbers in its column label"),
        ("embedded", {"path": "nowhere.png"}, "nowhere.png"),
        ("embedded", {"label": None}, "label"),
    ],
)
def test_a_model_or_a_table_that_will_not_do_is_refused(frame, model, changed, words):
    with pytest.raises(ow.OpenworldError, match=words):
        ow.estimate(frame.assign(**changed), frame, model=model, **FAST)


def test_a_source_needs_labels(frame):
    with pytest.raises(ow.OpenworldError, match="no labels; give them in a column label"):
        ow.estimate(frame[["path"]], frame, model="embedded", **FAST)


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(0)
    points = generator.normal(size=(300, 5))
    return points, np.array(NAMES)[points[:, :3].argmax(1)]


@pytest.mark.parametrize("called", [NAMES, (3, 5, 9), (0, 1, 2)])
def test_a_classifier_of_scikit_learn_says_the_same_on_rows_as_its_probabilities(rows, called):
    points, labels = rows
    labels = np.array([called[NAMES.index(name)] for name in labels])
    fitted = LogisticRegression().fit(points[:100], labels[:100])
    answer = ow.estimate(
        {"embeddings": points[100:200], "labels": labels[100:200]}, {"embeddings": points[200:]}, model=fitted, **FAST
    )
    val, live = (fitted.predict_proba(part.astype(np.float32)) for part in (points[100:200], points[200:]))
    numbers = np.searchsorted(fitted.classes_, labels[100:200])
    expected = ow.estimate({"probabilities": val, "labels": numbers}, {"probabilities": live}, **FAST)
    assert accuracy(answer) == pytest.approx(accuracy(expected), abs=1e-6)


def classes(order=(0, 1, 2)):
    return {
        "classnames": [NAMES[one] for one in order],
        "class_embeddings": np.eye(3, 5)[list(order)],
        "logit_scale": 3.0,
    }


def test_embeddings_say_the_same_from_arrays_and_from_files_in_any_order_of_classes(rows, tmp_path):
    points, labels = rows
    numbers = np.array([NAMES.index(name) for name in labels])
    table = {"embeddings": points, "labels": labels}
    arrays = ow.estimate(table | classes(), table, **FAST)
    np.savez(tmp_path / "val.npz", embeddings=points, labels=numbers, classnames=NAMES)
    np.savez(tmp_path / "classes.npz", **classes((2, 0, 1)))
    files = ow.estimate(tmp_path / "val.npz", tmp_path / "val.npz", model=str(tmp_path / "classes.npz"), **FAST)
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    shares = np.exp(3 * unit[:, :3])
    expected = (shares.max(1) / shares.sum(1)).mean()
    assert accuracy(arrays) == pytest.approx(expected, abs=1e-5) and accuracy(files) == pytest.approx(
        expected, abs=1e-5
    )
    pair = [[row.value.value for row in answer.results] for answer in (arrays, files)]
    assert pair[0] == pytest.approx(pair[1], abs=1e-5)


def test_embeddings_without_a_model_or_with_another_are_refused(rows):
    points, labels = rows
    val = {"embeddings": points, "labels": labels}
    for model, message in (("embedded", "class_embeddings"), (3, "came with a int")):
        with pytest.raises(ow.OpenworldError, match=message):
            ow.estimate(val, val, model=model, **FAST)
    with pytest.raises(ow.OpenworldError, match="both come from one model"):
        ow.estimate(val | classes(), {"embeddings": points[:, :4]}, **FAST)
    with pytest.raises(ow.OpenworldError, match="give source and target alike"):
        ow.estimate(val | classes(), {"logits": points}, **FAST)


def test_shift_refuses_names_in_one_sentence_and_embeddings_of_another_width():
    points, names = np.random.default_rng(0).normal(size=(60, 6)), [f"thing {number}" for number in range(20)]
    bare, one = {"embeddings": points}, {"classnames": names, "class_embeddings": points[:20]}
    with pytest.raises(ow.OpenworldError, match="one sentence"):
        ow.shift(bare | one, bare, quiet=True)
    with pytest.raises(ow.OpenworldError, match="6 numbers.*'embedded' have 128"):
        ow.shift(bare, bare, classnames=names, quiet=True)
