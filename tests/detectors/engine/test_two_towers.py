"""Two-tower models: class names as texts and as a head, patches, negative names."""

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from openworld import OpenworldError
from openworld.detectors import CSP, GLMCM, MCM, NegLabel, Texts, activations_of, encode_texts
from openworld.testing import small_world


@pytest.fixture(scope="module")
def world():
    return small_world()


@pytest.fixture(scope="module")
def seen(world):
    words = ["anchor", "brick", "cloud", "drum", "engine", "fog"]
    return activations_of(world.clip, world.shots, encode_texts(world.clip, world.shots.classnames, negative=words))


def test_the_head_is_zero_shot_classification(world, seen):
    texts = world.clip.encode_text([f"a photo of a {name.replace('_', ' ')}" for name in world.shots.classnames])
    embeddings = torch.from_numpy(np.asarray(world.shots.embeddings))
    cosines = normalize(embeddings, dim=1) @ normalize(texts, dim=1).mT
    torch.testing.assert_close(seen.logits, (world.clip.logit_scale * cosines).detach(), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(seen.cosines, cosines.detach(), rtol=1e-4, atol=1e-5)


def test_gl_mcm_looks_at_patches_in_the_joint_space(world, seen):
    patches = world.clip.project_patches(torch.from_numpy(np.asarray(world.shots.patches)).float())
    torch.testing.assert_close(seen.patches, patches.detach())
    assert (GLMCM().fit().score(seen) > MCM().fit().score(seen)).all()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda seen: NegLabel().fit().score(seen), "one at least for each of 100 groups, and has 6"),
        (lambda seen: CSP().fit().score(seen), "CSP needs conjugated texts, .* of 100 groups, and has 0"),
        (lambda seen: Texts(seen.texts.own, conjugated=torch.eye(2)), "conjugated texts have width 2, own texts 32"),
        (lambda seen: encode_texts(small_world().clip, ["owl"], template="a photo"), "exactly one {}"),
        (lambda seen: encode_texts(small_world().clip, []), "no class name"),
    ],
)
def test_what_is_missing(seen, call, said):
    with pytest.raises(OpenworldError, match=said):
        call(seen)
