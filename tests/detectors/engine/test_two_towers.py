"""Two-tower models: class names as texts and as a head, patches, negative names."""

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from openworld import OpenworldError
from openworld.detectors import GLMCM, KNN, MCM, MDS, MSP, Activations, NegLabel, Texts, activations_of, encode_texts
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


def test_every_kind_of_detector_runs_on_it(seen):
    for detector in (MCM(), GLMCM(), NegLabel(groups=2), MSP(), KNN(2), MDS(shrinkage=0.1)):
        scores = detector.fit(seen).score(seen)
        assert scores.shape == (28,) and scores.isfinite().all()


def test_gl_mcm_looks_at_patches_in_the_joint_space(world, seen):
    patches = world.clip.project_patches(torch.from_numpy(np.asarray(world.shots.patches)).float())
    torch.testing.assert_close(seen.patches, patches.detach())
    assert (GLMCM().fit().score(seen) > MCM().fit().score(seen)).all()


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_neglabel_against_a_loop(seen, groups):
    detector = NegLabel(temperature=0.1, groups=groups, seed=3)
    size = 6 // groups
    order = np.random.default_rng(3).permutation(size * groups)
    own, negative = seen.cosines, (seen.unit @ seen.texts.negative.mT)[:, order]
    shares = []
    for group in range(groups):
        both = torch.cat([own, negative[:, group * size : (group + 1) * size]], dim=1) / 0.1
        shares.append(both.softmax(dim=1)[:, : own.shape[1]].sum(dim=1))
    torch.testing.assert_close(detector.fit().score(seen), torch.stack(shares).mean(dim=0))


def test_texts_of_the_fit_are_remembered(seen):
    fitted = MCM().fit(Activations(texts=seen.texts))
    torch.testing.assert_close(fitted.score(seen.features), MCM().fit().score(seen))


def test_what_is_missing(world, seen):
    with pytest.raises(OpenworldError, match="one at least for each of 100 groups, and has 6"):
        NegLabel().fit().score(seen)
    with pytest.raises(OpenworldError, match="and has 0"):
        NegLabel(groups=1).fit().score(Activations(seen.features, texts=Texts(seen.texts.own)))
    with pytest.raises(OpenworldError, match="exactly one {}"):
        encode_texts(world.clip, ["owl"], template="a photo")
    with pytest.raises(OpenworldError, match="no class name"):
        encode_texts(world.clip, [])
