"""What every backbone promises, ours and those that other libraries run: one contract."""

import sys

import numpy as np
import pytest
import torch
from foreign_models import make_image, make_images, stand_in_for_open_clip

from openworld import backbones
from openworld.backbones.published_files import EMBEDDED
from openworld.core.errors import OpenworldError
from openworld.datasets.names.audit import audit
from openworld.features import Encoding, encode
from openworld.learners import find_learner

NAMES = ("golden retriever", "ice_cream", "traffic light", "owl")
OTHERS = ("transformers:align", "transformers:altclip", "transformers:groupvit", "transformers:siglip2")
EVERY = ("embedded", "transformers:clip", *OTHERS, "open_clip:EVA02-tiny/random")


@pytest.fixture(scope="module", params=EVERY)
def name(request, foreign_folder, tmp_path_factory):
    library, _, model = request.param.partition(":")
    if library == "open_clip":
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(stand_in_for_open_clip(tmp_path_factory.mktemp("open_clip") / "packages"))
            yield request.param
            sys.modules.pop("open_clip", None)
    elif library == "transformers":
        yield f"transformers:{EMBEDDED if model == 'clip' else foreign_folder(model)}"
    else:
        yield request.param


@pytest.fixture(scope="module")
def clip(name):
    return backbones.load(name)


def pixels(clip, *images):
    prepared = torch.from_numpy(np.stack([clip.preprocess.prepare(one) for one in images]))
    return clip.preprocess.scale(prepared).to(clip.dtype)


def test_it_gives_one_embedding_per_image_and_sentence_and_says_what_it_is(name, clip):
    assert clip.name == name and clip.device.type == "cpu" and clip.dtype == torch.float32
    assert clip.logit_scale.shape == () and clip.logit_scale.dtype == torch.float32 and clip.logit_scale > 0
    seen = clip.encode_image(pixels(clip, make_image(90, 50), make_image(30, 70)))
    read = clip.encode_text(["a photo of an owl.", "an owl", "lamp"])
    assert seen.shape == (2, clip.config.joint_dimension) and read.shape == (3, clip.config.joint_dimension)
    assert seen.isfinite().all() and read.isfinite().all()
    assert not torch.equal(seen[0], seen[1]) and not torch.equal(read[0], read[1])


def test_neighbours_in_a_batch_do_not_matter(clip):
    one, other = make_image(90, 50, 1), make_image(64, 64, 2)
    alone, beside = clip.encode_image(pixels(clip, one)), clip.encode_image(pixels(clip, other, one))[1:]
    torch.testing.assert_close(alone, beside, atol=1e-5, rtol=1e-4)
    short, long = clip.encode_text(["owl"]), clip.encode_text(["a very old owl in a tree", "owl"])[1:]
    torch.testing.assert_close(short, long, atol=1e-5, rtol=1e-4)


def test_the_fingerprint_is_of_weights_and_not_of_the_name(name, clip):
    again = backbones.load(name)
    assert clip.fingerprint == again.fingerprint and clip.preprocess_fingerprint == again.preprocess_fingerprint
    assert clip.fingerprint != backbones.load(name, dtype=torch.float16).fingerprint


def test_sentences_come_as_a_list_and_none_is_cut(clip):
    for wrong in ([], "a photo"):
        with pytest.raises(OpenworldError, match="list of at least one sentence"):
            clip.encode_text(wrong)
    with pytest.raises(OpenworldError, match="owl owl.*shorten it"):
        clip.encode_text(["an owl", "owl " * 60])


def test_its_tokenizer_serves_the_audit_of_names(clip):
    found = audit(NAMES, "toy", base_count=2, template="a photo of a {}.", tokenizer=clip.tokenizer)
    assert not any("tokens" in check for check in found.not_made)


def test_features_are_encoded_kept_and_read_again_and_serve_learners_of_names_alone(clip, tmp_path):
    images = make_images()
    features = encode(clip, images, Encoding(views=2), cache=tmp_path)
    assert features.embeddings.shape == (len(images), clip.config.joint_dimension)
    assert features.views.shape == (len(images), 2, clip.config.joint_dimension)
    again = encode(clip, images, Encoding(views=2), cache=tmp_path)
    np.testing.assert_array_equal(features.embeddings, again.embeddings)
    for learner in ("zero-shot", "zero-shot-ensemble"):
        fitted = find_learner(learner)().fit(clip, features, seed=1)
        answer = fitted.answer(features, fitted.text_bank(features.classnames, NAMES))
        assert answer.logits.shape == (len(features), len(features.classnames) + len(NAMES))
        assert np.isfinite(answer.logits).all()
