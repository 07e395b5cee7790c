"""CIFAR-10-C, CIFAR-100-C and ImageNet-C, in tiny files of their formats."""

import numpy as np
import pytest
import shifted_trees as trees
from tiny_trees import plant_folders_c
from trees import WORDNET, write_names

from openworld.core.errors import OpenworldError
from openworld.datasets import SHIFTED, check, load
from openworld.datasets.published.catalogue import PUBLISHED_CORRUPTIONS
from openworld.datasets.published.small_images import read_array


def test_cifar_c_is_cut_by_severity(tmp_path):
    trees.plant_cifar_c(tmp_path, "CIFAR-10-C", 10, ["fog"])
    for severity in (1, 3, 5):
        images = load("cifar10-c", root=tmp_path, domain=f"fog {severity}")
        assert (images.name, images.domain, images.classnames[1]) == ("cifar10-c", f"fog {severity}", "automobile")
        assert images.labels.tolist() == trees.labels("test").tolist()
        expected = trees.corrupted_pixels("fog", severity)
        assert all(np.array_equal(images.image(index), pixels) for index, pixels in enumerate(expected))


def test_cifar100_c_has_the_names_of_cifar100(tmp_path):
    trees.plant_cifar_c(tmp_path, "CIFAR-100-C", 100, ["snow"])
    with pytest.raises(OpenworldError, match="there is no file .*meta"):
        load("cifar100-c", root=tmp_path, domain="snow 2")
    trees.plant_cifar100(tmp_path)
    images = load("cifar100-c", root=tmp_path, domain="snow 2")
    assert images.classnames[3] == "class 03"
    assert images.labels.tolist() == trees.labels("test", 100).tolist()


def test_broken_arrays_are_refused(tmp_path):
    trees.plant_cifar_c(tmp_path, "CIFAR-10-C", 10, ["fog"])
    folder = tmp_path / "CIFAR-10-C"
    with pytest.raises(OpenworldError, match="there is no file .*frost.npy"):
        load("cifar10-c", root=tmp_path, domain="frost 1")
    np.save(folder / "labels.npy", np.zeros(49, int))
    with pytest.raises(OpenworldError, match="50 images and labels.npy 49 labels"):
        load("cifar10-c", root=tmp_path, domain="fog 1")
    (folder / "fog.npy").write_bytes(b"nothing of the kind")
    with pytest.raises(OpenworldError, match=r"fog.npy cannot be read"):
        read_array(folder / "fog.npy")
    with pytest.raises(OpenworldError, match="did you mean 'fog 1'"):
        load("cifar10-c", root=tmp_path, domain="fogg 1")


def test_the_check_reads_every_condition(tmp_path):
    trees.plant_cifar_c(tmp_path, "CIFAR-10-C", 10, PUBLISHED_CORRUPTIONS[1:])
    found = check("cifar10-c", tmp_path)
    assert found.wrong[0].startswith("gaussian_noise 1 test and 4 more: there is no file")
    assert found.wrong[1] == (
        "shot_noise 1 test and 89 more: 10 images are there, expected 10,000; get the files again."
    )
    assert len(found.counts) == 90 and found.sources == SHIFTED["cifar10-c"].sources


def test_imagenet_c_is_folders_of_folders(tmp_path):
    plant_folders_c(tmp_path / "imagenet-c", WORDNET, ["fog"], each=1, severities=[4])
    write_names(tmp_path / "imagenet-c")
    images = load("imagenet-c", root=tmp_path, domain="fog 4")
    assert (images.name, images.domain) == ("imagenet-c", "fog 4")
    assert images.labels.tolist() == list(range(12))
    assert images.image(7).getpixel((0, 0))[0] == 7
    with pytest.raises(OpenworldError, match="there is no folder .*fog/3"):
        load("imagenet-c", root=tmp_path, domain="fog 3")
