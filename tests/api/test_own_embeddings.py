"""Embeddings in a file give the numbers that the model gives which made them: in every command, and in Python."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy, normalize

import openworld as ow
from openworld import backbones, datasets
from openworld.backbones.foreign.of_objects import GivenEncoder
from openworld.features import encode
from openworld.learners import LEARNERS, Schedule, TextBank, ZeroShot, encoding_for, plugin_api
from openworld.learners.engine.requirements import lacking
from openworld.learners.engine.text_features import encode_names
from openworld.own_data.models import find_model

SENTENCE = "an icon of a {}."
LOOKS = ("a sketch of a {}.", "an icon of a {}.", "a photo of a {}.", "a grey {}.")
SETS = {"mine": "twemoji", "other": "emojione-monotone"}
TASK = "emoji-concepts-b"


@pytest.fixture(scope="module")
def clip():
    return backbones.load("embedded")


@pytest.fixture(scope="module")
def images():
    """A test image of every class in two styles, and two shots of each in the first."""
    whole = {name: datasets.load(TASK, domain=style) for name, style in SETS.items()}
    few = {name: one.subset(np.arange(0, len(one), 10)) for name, one in whole.items()}
    return few | {"train": datasets.load(TASK, part="train", shots=2)}


@pytest.fixture(scope="module")
def files(clip, images, tmp_path_factory, shared_cache):
    """The same images and class names as files of embeddings."""
    folder = tmp_path_factory.mktemp("embeddings")
    sets = {"mine": {"train": images["train"], "test": images["mine"]}, "other": {"test": images["other"]}}
    for name, parts in sets.items():
        embed(clip, parts, folder / f"{name}.npz", shared_cache)
    return {name: folder / f"{name}.npz" for name in sets}


def embed(clip, parts, file, cache, sentence=SENTENCE):
    """Write the images of some parts, and their class names in a sentence, as embeddings of a model."""
    names = parts["test"].classnames
    seen = [encode(clip, images, cache=cache) for images in parts.values()]
    np.savez(
        file,
        embeddings=np.concatenate([own.embeddings for own in seen]),
        labels=np.array(names)[np.concatenate([own.labels for own in seen])],
        group=np.concatenate([own.groups + 10**6 * place for place, own in enumerate(seen)]),
        split=np.repeat(list(parts), list(map(len, seen))),
        classnames=names,
        class_embeddings=encode_names(clip, names, (sentence,)).numpy(),
        logit_scale=float(clip.logit_scale),
    )


def columns(path, part="test"):
    """The rows of a part, as columns in Python."""
    held = dict(np.load(path))
    kept = held["split"] == part
    rows = {name: held[name][kept] for name in ("embeddings", "labels", "group")}
    return rows | {name: held[name] for name in ("classnames", "class_embeddings", "logit_scale")}


def numbers(report, places=3):
    return [None if row.value.value is None else round(row.value.value, places) for row in report.results]


def test_detect(images, files):
    options = {"detector": ("MCM", "KNN", "MDS"), "replicates": 0, "template": SENTENCE, "quiet": True}
    known = {"id": images["mine"], "train": images["train"]}
    seen = ow.detect(model="embedded", ood={"far": images["other"]}, **known, **options)
    by_file = ow.detect(id=files["mine"], ood={"far": files["other"]}, model=str(files["mine"]), **options)
    by_rows = ow.detect(
        id=columns(files["mine"]),
        train=columns(files["mine"], "train"),
        ood={"far": columns(files["other"])},
        **options,
    )
    assert numbers(by_file) == numbers(by_rows) == numbers(seen) and len(numbers(seen)) > 3


def test_predict(clip, images, files, tmp_path, shared_cache):
    names = images["mine"].classnames
    base, new = names[:60], names[60:]
    shots = encode(clip, images["train"], cache=shared_cache)
    ZeroShot((SENTENCE,)).fit(clip, shots, seed=0).save(tmp_path / "learner")
    fitted = find_model(tmp_path / "learner")
    assert fitted.classnames == names
    by_file = ow.predict(files["mine"], files["other"], new=new, quiet=True)
    by_rows = ow.predict(columns(files["mine"]), columns(files["other"]), new=new, quiet=True)
    assert by_file.found.fitted.classnames == base
    assert [row["guesses"] for row in by_file.found.rows] == [row["guesses"] for row in by_rows.found.rows]
    # A learner that was fitted on images looks at embeddings that its backbone made.
    seen = ow.predict(fitted, columns(files["other"]), template=SENTENCE, quiet=True)
    answer = fitted.answer(encode(clip, images["other"], cache=shared_cache), fitted.text_bank(names))
    assert [names.index(row["guesses"][0]["name"]) for row in seen.found.rows] == answer.logits.argmax(1).tolist()
    with pytest.raises(ow.OpenworldError, match="knows no base names"):
        ow.predict(clip, files["other"], quiet=True)


class Towers:
    """The embedded CLIP under another name, as somebody's own object."""

    def __init__(self, clip):
        self._clip, self.logit_scale = clip, float(clip.logit_scale)

    @torch.no_grad()
    def encode_image(self, images):
        pixels = torch.from_numpy(np.stack([self._clip.preprocess.prepare(image) for image in images]))
        return self._clip.encode_image(self._clip.preprocess.scale(pixels))

    @torch.no_grad()
    def encode_text(self, texts):
        return self._clip.encode_text(texts)


def test_shift(clip, images, files, tmp_path, monkeypatch):
    monkeypatch.setattr("openworld.own_data.shift.decomposition.STEPS", 5)
    (tmp_path / "looks.txt").write_text("\n".join(LOOKS))
    names = images["mine"].classnames
    sentences = clip.encode_text([look.format(name) for name in names for look in LOOKS])
    classes = {"classnames": names, "class_embeddings": sentences.reshape(len(names), len(LOOKS), -1).numpy()}
    with monkeypatch.context():
        seen = ow.shift(
            images["mine"], images["other"], backbone=Towers(clip), templates=tmp_path / "looks.txt", quiet=True
        )
    rows = {name: columns(files[name]) for name in files}
    known = {name: rows["mine"][name] for name in ("embeddings", "labels", "group")}
    strange = {name: rows["other"][name] for name in ("embeddings", "labels", "group")}
    by_rows = ow.shift(known | classes, strange | {"classnames": names}, quiet=True)
    np.savez(tmp_path / "known.npz", **known, **classes)
    np.savez(tmp_path / "strange.npz", **strange, classnames=names)
    by_file = ow.shift(tmp_path / "known.npz", tmp_path / "strange.npz", quiet=True)
    assert numbers(by_file) == numbers(by_rows)
    assert numbers(by_rows, 2) == numbers(seen, 2) and len(numbers(seen)) > 5


NEEDS_NO_TOWER = {"zero-shot", "zero-shot-ensemble"}


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_without_a_need_of_towers_run_on_embeddings(files, name):
    given = find_model(files["mine"])
    assert isinstance(given, GivenEncoder)
    assert (lacking(given, LEARNERS[name]()) is None) == (name in NEEDS_NO_TOWER)


def test_recognition(clip, tmp_path, few_shapes, shared_cache):
    parts = {part: datasets.load(str(few_shapes), part=part) for part in ("train", "test")}
    file = tmp_path / "mine.npz"
    embed(clip, parts, file, shared_cache, "a photo of a {}.")
    spec = {"learners": [{"learner": "zero-shot"}], "seeds": [1], "shots": 1, "views": 1, "keep_validation": False}
    options = {"cache": shared_cache, "workers": 1, "device": "cpu", "quiet": True}
    seen = ow.run(spec | {"dataset": str(few_shapes)}, tmp_path / "images", **options)
    spec |= {"dataset": str(file), "backbone": str(file)}
    by_file = ow.run(spec, tmp_path / "embeddings", **options)
    for metric in ("openworld_auc", "auroc", "base_accuracy", "new_accuracy"):
        found, expected = (next(iter(run.results.where(metric=metric))).value.value for run in (by_file, seen))
        assert found == pytest.approx(expected, abs=1e-3)
    with pytest.raises(ow.OpenworldError, match="CoOp cannot run on .*learned contexts"):
        ow.run(spec | {"learners": [{"learner": "CoOp"}]}, tmp_path / "contexts", **options)


def test_detectors_in_a_run(tmp_path):
    """No image is there: known classes are told from others, and their shift measured, by embeddings alone."""
    generator = np.random.default_rng(0)
    centres = generator.normal(size=(24, 16))
    sentences = centres[:, None] + 0.2 * generator.normal(size=(1, 10, 16)) + 0.1 * generator.normal(size=(24, 10, 16))
    names = [f"thing {number}" for number in range(24)]

    def images(count, classes):
        labels = generator.choice(classes, count)
        return {"embeddings": centres[labels] + 0.5 * generator.normal(size=(count, 16)), "labels": labels}

    split = {"split": np.repeat(["train", "test"], [200, 60])}
    np.savez(tmp_path / "mine.npz", **images(260, 12), **split, classnames=names, class_embeddings=sentences)
    np.savez(tmp_path / "pool.npz", **images(200, 24), classnames=names)
    mine, pool = (str(tmp_path / name) for name in ("mine.npz", "pool.npz"))
    spec = {"protocol": "ood-detection", "shots": 8, "levels": 3, "seeds": [0], "sources": [{"dataset": mine}]}
    spec |= {"pool": [{"dataset": pool}], "models": [{"backbone": mine}]}
    spec |= {"decomposition": {"backbone": mine, "settings": {"steps": 5}}}
    run = ow.run(spec, tmp_path / "run", cache=tmp_path / "cache", workers=1, device="cpu", quiet=True)
    auroc = {row.entity: row.value.value for row in run.results.where(metric="auroc") if "level" not in str(row.where)}
    assert {"MCM", "MSP", "KNN", "MDS"} <= set(auroc) and min(auroc["MCM"], auroc["MSP"]) > 0.8


@dataclass(frozen=True)
class Offsets:
    """A learned offset of every class embedding, which works on embeddings alone (Yu et al., 2023, TaskRes)."""

    schedule: Schedule = Schedule(epochs=2)
    name, consumes, depends_on_other_names = "Offsets", "embeddings", False

    def start(self, clip, classnames, generator):
        return {"offset": torch.zeros(len(classnames), clip.config.joint_dimension)}

    def prepare(self, clip, classnames):
        return plugin_api.encode_names(clip, classnames, (SENTENCE,))

    def loss(self, clip, parameters, images, labels, prepared):
        text = normalize(prepared + parameters["offset"], dim=-1)
        return {"total": cross_entropy(plugin_api.cosine_logits(images.embeddings, text, clip.logit_scale), labels)}

    def fit(self, clip, train, *, seed):
        return plugin_api.fit_prompts(self, clip, train, seed=seed)

    def text_bank(self, clip, parameters, names):
        text = normalize(self.prepare(clip, names.all) + parameters["offset"], dim=-1)
        return TextBank(text, len(names.base), clip.logit_scale)

    def answer(self, clip, parameters, images, bank):
        return plugin_api.answer_by_cosine(images.embeddings, bank)


def test_an_adapter_of_features_learns_from_embeddings_as_from_images(clip, images, files, shared_cache):
    given, learner = find_model(files["mine"]), Offsets()
    assert lacking(given, learner) is None
    train, test = (datasets.load(str(files["mine"]), part=part) for part in ("train", "test"))
    found = []
    for model, taught, tested in ((clip, images["train"], images["mine"]), (given, train, test)):
        shots = encode(model, taught, encoding_for(learner), cache=shared_cache)
        fitted = learner.fit(model, shots, seed=1)
        assert fitted.parameters["offset"].abs().max() > 1e-3
        found.append(fitted.logits(encode(model, tested, cache=shared_cache), fitted.text_bank(fitted.classnames)))
    np.testing.assert_allclose(found[0], found[1], atol=2e-3)
