"""Models that somebody has in Python as dual encoders: equal to the model itself, left as they are, or refused."""

import sys

import numpy as np
import pytest
import torch
import transformers
from foreign_models import make_image, make_images

from openworld import backbones
from openworld.backbones.foreign.of_objects import encoder_of
from openworld.backbones.names import is_foreign
from openworld.backbones.published_files import EMBEDDED
from openworld.core.errors import OpenworldError
from openworld.features import encode

SENTENCES = ["a photo of an owl.", "a lamp"]


class Plain:
    """An object of three names around the embedded backbone."""

    def __init__(self, clip, logit_scale=50.0):
        self.clip, self.logit_scale = clip, logit_scale

    def encode_image(self, images):
        return self.clip.encode_image(torch.stack([self.clip.preprocess(image) for image in images])).numpy()

    def encode_text(self, texts):
        return self.clip.encode_text(texts)


@pytest.fixture(scope="module")
def clip():
    return backbones.load("embedded")


@pytest.fixture(scope="module")
def library():
    model = transformers.AutoModel.from_pretrained(EMBEDDED, dtype=torch.float32).eval()
    return model, transformers.AutoProcessor.from_pretrained(EMBEDDED)


def forms(clip, library):
    return {"processor": library, "transform": (clip, clip.preprocess, list), "object": Plain(clip)}


@pytest.mark.parametrize("form", ["transform", "object"])
def test_embeddings_are_those_of_the_model(form, clip, library, tmp_path):
    own = encoder_of(forms(clip, library)[form])
    found, expected = (torch.tensor(encode(one, make_images(), cache=tmp_path).embeddings) for one in (own, clip))
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)
    torch.testing.assert_close(own.encode_text(SENTENCES), clip.encode_text(SENTENCES), atol=1e-4, rtol=0)
    scale = 50.0 if form == "object" else float(clip.logit_scale)
    assert float(own.logit_scale) == pytest.approx(scale) and own.config.joint_dimension == 128


def test_a_model_of_transformers_sees_what_its_processor_gives(library, clip, tmp_path):
    (model, processor), images = library, make_images()
    own = encoder_of(library)
    given = processor(images=[images.image(row) for row in range(len(images))], return_tensors="pt")
    with torch.no_grad():
        seen = model.get_image_features(**given)
    found = torch.tensor(encode(own, images, cache=tmp_path).embeddings)
    torch.testing.assert_close(found, getattr(seen, "pooler_output", seen), atol=1e-4, rtol=0)
    torch.testing.assert_close(own.encode_text(SENTENCES), clip.encode_text(SENTENCES), atol=1e-4, rtol=0)
    torch.testing.assert_close(own.logit_scale, clip.logit_scale)


def test_a_model_of_ours_is_taken_as_it_is(clip):
    assert encoder_of(clip) is clip


def test_a_model_is_left_as_it_was(library):
    model = library[0].requires_grad_(True)
    encoder_of(library).encode_text(SENTENCES)
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_the_fingerprint_is_that_of_what_the_model_makes(clip):
    class Louder(Plain):
        def encode_text(self, texts):
            return 2 * super().encode_text(texts)

    Louder.__qualname__, Louder.__module__ = Plain.__qualname__, Plain.__module__
    first, again, other = (encoder_of(one) for one in (Plain(clip), Plain(clip), Louder(clip)))
    assert first.fingerprint == again.fingerprint != other.fingerprint
    assert first.preprocess_fingerprint == again.preprocess_fingerprint


def test_what_lacks_a_part_is_refused_with_what_to_give(clip, library):
    model, processor = library
    for given, message in (
        (model, "without its processor"),
        ((model, None), "without its processor"),
        ((Plain(clip), None), "NoneType alone"),
        (3, r"came as int, expected .*\(model, processor\)"),
        (Plain(clip, None), "logit_scale None"),
        (Plain(clip, -1.0), "logit_scale -1.0, expected a number above 0"),
    ):
        with pytest.raises(OpenworldError, match=message):
            encoder_of(given)
    with pytest.raises(OpenworldError, match="training mode"):
        encoder_of((transformers.AutoModel.from_pretrained(EMBEDDED).train(), processor))


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "own_towers", raising=False)
    (tmp_path / "own_towers.py").write_text(
        "from openworld import backbones\n"
        "def mine():\n    return backbones.load('embedded')\n"
        "def broken():\n    raise ValueError('no such weights')\n"
        "def three():\n    return 3\n"
        "def asking(classes):\n    return 3\n"
    )
    yield
    sys.modules.pop("own_towers", None)


def test_a_function_of_ones_own_is_the_name_of_a_backbone(module, clip):
    assert backbones.load("own_towers:mine").fingerprint == clip.fingerprint


@pytest.mark.parametrize(
    "name, message",
    [
        ("broken", "gives no model .ValueError: no such weights"),
        ("three", "came as int"),
        ("asking", "called without arguments"),
        ("missing", "cannot be imported"),
    ],
)
def test_a_function_that_makes_no_model_is_refused(module, name, message):
    with pytest.raises(OpenworldError, match=message):
        backbones.load(f"own_towers:{name}")


@pytest.mark.parametrize(
    "name", ["embedded", "ViT-B-16:openai", "RN50:openai", "openai/clip-vit-base-patch16", "timm:x"]
)
def test_names_of_models_are_no_functions(name):
    assert not is_foreign(name)


def test_embeddings_of_class_names_stand_in_for_a_model(tmp_path):
    sentences = np.random.default_rng(0).normal(size=(3, 2, 4)).astype(np.float32)
    np.savez(tmp_path / "two.npz", classnames=["cat", "sea_lion", "owl"], class_embeddings=sentences, logit_scale=50.0)
    np.savez(tmp_path / "one.npz", classnames=["cat", "sea_lion", "owl"], class_embeddings=sentences[:, 0])
    two, one = (backbones.load(tmp_path / name) for name in ("two.npz", "one.npz"))
    assert float(two.logit_scale) == 50 and two.config.joint_dimension == one.config.joint_dimension == 4
    units = sentences / np.linalg.norm(sentences, axis=2, keepdims=True)
    np.testing.assert_allclose(two.encode_text(["owl", "sea lion"]), units.mean(axis=1)[[2, 1]], rtol=1e-6)
    np.testing.assert_array_equal(one.encode_text(["Owl"]), sentences[2:, 0])
    np.testing.assert_array_equal(two.class_sentences(["sea_lion"]), sentences[1:2])
    for call, words in (
        (lambda: one.class_sentences(["owl"]), "in one sentence"),
        (lambda: one.encode_text(["emu"]), "no embedding of 'emu'; it knows 3"),
        (lambda: one.preprocess.prepare(make_image()), "cannot look at images"),
    ):
        with pytest.raises(OpenworldError, match=words):
            call()
