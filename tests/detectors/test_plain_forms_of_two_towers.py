"""Detectors that compare with names, without stored scores of other people's code: against plain loops in NumPy."""

import numpy as np
import pytest
import torch
from scipy.special import softmax

from openworld import OpenworldError
from openworld.detectors import (
    CSP,
    MSP,
    SUPERCLASSES,
    Activations,
    AdaNeg,
    Head,
    MaxLogit,
    Texts,
    conjugated_names,
    score_stream,
    score_together,
)
from openworld.detectors.engine import fitted as scoring

GENERATOR = np.random.default_rng(0)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


OWN, NEGATIVE, CONJUGATED = (unit(GENERATOR.normal(size=(count, 6))) for count in (3, 11, 14))
IMAGES = unit(
    np.concatenate([OWN.repeat(15, axis=0), NEGATIVE.repeat(5, axis=0)]) + 0.25 * GENERATOR.normal(size=(100, 6))
)[GENERATOR.permutation(100)]
TEXTS = Texts(*(torch.tensor(names) for names in (OWN, NEGATIVE, CONJUGATED)))
SEEN = Activations(torch.tensor(IMAGES), texts=TEXTS)


def scores(detector, images=SEEN):
    return detector.fit().score(images).numpy()


def share(own, negative, groups, seed):
    """NegLabel's score of an image, of logits."""
    size = len(negative) // groups
    order = np.random.default_rng(seed).permutation(size * groups)
    parts = [negative[order[place * size : (place + 1) * size]] for place in range(groups)]
    return np.mean([softmax([*own, *part])[: len(own)].sum() for part in parts])


@pytest.mark.parametrize("groups", [1, 4])
def test_csp_is_neglabel_on_the_conjugated_pool(groups):
    expected = [share(OWN @ image / 0.2, CONJUGATED @ image / 0.2, groups, seed=3) for image in IMAGES]
    np.testing.assert_allclose(scores(CSP(0.2, groups, seed=3)), expected)


def test_conjugated_names_are_adjectives_and_superclasses():
    names = conjugated_names([f"word_{place}" for place in range(500)])
    assert all(name.startswith(f"word {place} ") for place, name in enumerate(names))
    assert {name.split()[-1] for name in names} == set(SUPERCLASSES)
    with pytest.raises(OpenworldError, match="no superclass"):
        conjugated_names(["ivory"], [])


def adaneg_plainly(detector, images):
    """One image after the other, every memory a list of (entropy, embedding), every proxy made."""
    names, memories, found = [*OWN, *NEGATIVE], [[] for _ in range(14)], []
    known = {
        place: share(*logits(image, detector), detector.groups, detector.seed) for place, image in enumerate(images)
    }
    for start in range(0, len(images), detector.batch):
        batch = range(start, min(start + detector.batch, len(images)))
        for place in batch:
            own, negative = logits(images[place], detector)
            if known[place] > detector.threshold + detector.gap * (1 - detector.threshold):
                part, first = own, 0
            elif known[place] < detector.threshold - detector.gap * detector.threshold:
                part, first = negative, 3
            else:
                continue
            p = softmax(part)
            memory = memories[first + int(part.argmax())]
            memory.append((-(p * np.log(p)).sum(), images[place]))
            if len(memory) > detector.length - 1:  # one place is the text's
                memory.remove(max(memory, key=lambda entry: entry[0]))
        for place in batch:
            cosines = []
            for text, memory in zip(names, memories, strict=True):
                entries = np.array([text, *(entry[1] for entry in memory)])
                weights = np.exp(-detector.sharpness * (1 - entries @ images[place]))
                weights = weights if detector.proxies == "sample" else np.ones(len(entries))
                cosines.append(unit(weights @ entries) @ images[place])
            ours = np.array(cosines) / detector.temperature
            adapted = share(ours[:3], ours[3:], detector.groups, detector.seed)
            found.append(adapted + detector.weight * known[place])
    return found, memories


def logits(image, detector):
    return OWN @ image / detector.temperature, NEGATIVE @ image / detector.temperature


@pytest.mark.parametrize("proxies", ["sample", "task"])
@pytest.mark.parametrize(("batch", "groups"), [(1, 1), (30, 2), (256, 5)])
def test_adaneg_is_the_loop_over_images(proxies, batch, groups):
    detector = AdaNeg(0.1, groups, seed=2, length=4, proxies=proxies, batch=batch)
    expected, memories = adaneg_plainly(detector, IMAGES)
    assert max(map(len, memories)) == 3 and any(memories[:3]) and any(memories[3:])
    np.testing.assert_allclose(scores(detector), expected)
    assert "depend on their order" in detector.fit().warnings[0] and not MSP().fit().warnings


def test_the_memory_is_kept_over_the_parts_of_a_call(monkeypatch):
    whole = score_together({"AdaNeg": AdaNeg(0.1, batch=8).fit(), "MSP": MSP().fit()}, with_head(SEEN))
    monkeypatch.setattr(scoring, "ROWS", 13)
    parts = score_together({"AdaNeg": AdaNeg(0.1, batch=8).fit(), "MSP": MSP().fit()}, with_head(SEEN))
    assert torch.equal(parts["AdaNeg"], whole["AdaNeg"]) and list(parts) == ["AdaNeg", "MSP"]
    torch.testing.assert_close(parts["MSP"], whole["MSP"])


def test_a_stream_mixes_its_image_sets():
    seen = with_head(SEEN)
    known, strange = seen.take(slice(0, 60)), seen.take(slice(60, None))
    fitted = {"MaxLogit": MaxLogit().fit(), "AdaNeg": AdaNeg(0.1, batch=8).fit()}
    both = score_stream(fitted, [known, strange], seed=5)
    order = np.random.default_rng(5).permutation(100)
    expected = np.empty(100)
    expected[order] = adaneg_plainly(AdaNeg(0.1, batch=8), IMAGES[order])[0]
    np.testing.assert_allclose(np.concatenate([part["AdaNeg"] for part in both]), expected)
    assert [list(part) for part in both] == [["MaxLogit", "AdaNeg"]] * 2
    assert torch.equal(both[1]["MaxLogit"], fitted["MaxLogit"].score(strange))
    with pytest.raises(OpenworldError, match="no image set"):
        score_stream(fitted, [])


def with_head(seen):
    return Activations(seen.features, Head.of_texts(TEXTS.own, torch.tensor(100.0)), texts=TEXTS)
