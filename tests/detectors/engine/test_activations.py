"""What is seen of images: derived once, validated at the door; heads and texts."""

import pytest
import torch

from openworld import OpenworldError
from openworld.detectors import GEN, SCALE, Activations, AdaSCALE, Head, Maps, Texts
from openworld.detectors.engine.perturbation import Perturbation, Sampling

HEAD = Head(torch.eye(3, 4), torch.zeros(3))


def test_logits_come_from_the_model_or_from_the_head():
    features = torch.rand(5, 4)
    torch.testing.assert_close(Activations(features, HEAD).logits, features @ torch.eye(4, 3))
    assert Activations(features, HEAD, outputs=torch.ones(5, 3)).logits.tolist() == torch.ones(5, 3).tolist()
    seen = Activations(features, HEAD)
    assert list(seen.split(5)) == [seen] and [len(part) for part in seen.split(2)] == [2, 2, 1]


def test_maps_and_moved_images_are_taken_with_the_others():
    rows, how = torch.rand(5, 4), Perturbation()
    maps = Maps(torch.rand(5, 3, 2, 2), torch.rand(5, 4, 2, 2), lambda maps: maps)
    seen = Activations(rows, HEAD, maps=maps, perturbed={how: -rows}).take([4, 0])
    assert torch.equal(seen.maps.early, maps.early[[4, 0]]) and torch.equal(seen.maps.late, maps.late[[4, 0]])
    assert torch.equal(seen.moved(how, "ODIN"), -rows[[4, 0]])
    with pytest.raises(OpenworldError, match='"perturbed by .*": 5'):
        Activations(rows[:2], HEAD, perturbed={how: rows})


def test_gen_of_saturated_logits_is_that_of_wider_arithmetic():
    logits = torch.tensor([[40.0, 0.0, -3.0], [20.0, 19.0, -60.0], [0.0, 0.0, 0.0]])
    z = logits.double()
    p = z.softmax(dim=1)
    rest = torch.stack([z[:, [n for n in range(3) if n != one]].logsumexp(dim=1) for one in range(3)], dim=1)
    expected = -(p * (rest - z.logsumexp(dim=1, keepdim=True)).exp()).pow(0.1).sum(dim=1)
    assert torch.allclose(GEN().fit().score(Activations(outputs=logits)).double(), expected, rtol=1e-5)


MAPS = Maps(torch.rand(2, 3, 2, 2), torch.rand(2, 4, 2, 2), lambda maps: maps)
ROWS, NAN = torch.rand(2, 4), torch.tensor([[1.0, 0.0], [float("nan"), 0.0]])
ONE_WITHOUT_A_LARGEST = torch.tensor([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]])
REFUSED = [
    (lambda: Activations(NAN), "NaN or infinite for 1 of 2 image.* first for number 1"),
    (lambda: Activations(torch.rand(2, 5), HEAD), "5 columns, but the head reads 4"),
    (lambda: Activations(outputs=torch.rand(2, 5), head=HEAD), "outputs have 5 classes, but the head has 3"),
    (lambda: Activations(ROWS, outputs=torch.rand(3, 3)), "one entry per image in all parts"),
    (lambda: Activations(torch.rand(3, 4), HEAD, maps=MAPS), "'maps': 2"),
    (lambda: Activations(ROWS[:1], HEAD, labels=torch.tensor([3])), "class 3, but there are 3 classes"),
    (lambda: Activations(ROWS, texts=Texts(torch.eye(3))), "4 columns, the texts 3"),
    (lambda: Activations(sampled={Sampling(): torch.rand(4, 3)}), r"sampled .* shape \[N, R, C\]"),
    (lambda: Head(torch.rand(1, 4)), r"expected \[C, D\] with C >= 2"),
    (lambda: Texts(torch.zeros(2, 3)), "length 0"),
    (lambda: Texts(torch.eye(3), torch.eye(4)), "encode both with one model"),
    (lambda: SCALE(75).fit(head=HEAD).score(ONE_WITHOUT_A_LARGEST), "SCALE gives NaN or infinite for 1 of 2 image"),
    (lambda: AdaSCALE(low=90, high=80), "expected 0 < low <= high < 100"),
]


@pytest.mark.parametrize(("call", "said"), REFUSED)
def test_what_does_not_fit_is_refused(call, said):
    with pytest.raises(OpenworldError, match=said):
        call()
