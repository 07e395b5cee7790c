"""OpenOOD's sets by name: which words name them, and `openworld detect` on a tree in the layout of its download."""

from pathlib import Path

import pytest
import torch
from openood_tree import CIFAR10, COUNTS, make_tree
from small_images import save_network
from torchvision_weights import resnet

import openworld as ow
from openworld import classifiers, datasets
from openworld.datasets.published.catalogue import BENCHMARKS
from openworld.ood.benchmark.spec import OODSetSpec
from openworld.ood.detect.places import known_images, known_sets, named_sets, validation_sets


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return str(make_tree(tmp_path_factory.mktemp("openood")))


@pytest.fixture(scope="module")
def saved(root):
    return save_network(Path(root) / "classifier", CIFAR10, side=16)


def test_words_name_sets_of_a_benchmark_however_they_are_spelled():
    for word, names in (
        ("openood:imagenet", ("ssb_hard", "ninco", "inaturalist", "textures", "openimage_o")),
        ("openood:cifar100/near", ("cifar10", "tin")),
        ("openood:imagenet200/full-spectrum", ("imagenet_v2", "imagenet_c", "imagenet_r")),
    ):
        assert known_sets(word) == tuple((word.partition("/")[0], name) for name in names)
    for word in ("ssb_hard", "SSB-hard", "ssb-hard", "openood:imagenet/ssb_hard"):
        assert known_sets(word) == (("openood:imagenet", "ssb_hard"),)


def test_a_set_of_several_benchmarks_is_that_of_the_images_in_distribution():
    assert known_sets("svhn", "openood:cifar100")[0][0] == "openood:cifar100"
    assert known_sets("textures", "openood:imagenet200")[0][0] == "openood:imagenet200"
    with pytest.raises(ow.OpenworldError, match="openood:cifar10/tin or openood:cifar100/tin"):
        known_sets("tin")
    assert known_sets("no-such-set") == ()


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("openood:imagnet", "did you mean 'openood:imagenet'"),
        ("openood:imagenet/nincoo", "did you mean 'ninco'"),
        ("openood:imagenet/validation", "set or group"),
    ],
)
def test_an_unknown_benchmark_or_set_is_refused_with_the_nearest_name(word, said):
    with pytest.raises(ow.OpenworldError, match=said):
        known_sets(word)


def test_images_are_those_of_the_lists(root):
    images = datasets.load("openood:imagenet", domain="textures", root=root)
    listed = (Path(root) / "benchmark_imglist/imagenet/test_textures.txt").read_text().split()[::2]
    assert [images.path_of(row) for row in range(len(images))] == listed
    assert images.image(0).size == (16, 16)
    shifted = datasets.load("openood:imagenet200", domain="imagenet_r", root=root)
    assert shifted.labels.tolist() == [0] * len(shifted)


def test_classes_are_named_after_the_folders_of_the_lists(root):
    train = datasets.load("openood:cifar10", part="train", root=root)
    assert train.classnames == CIFAR10 and len(train) == 10 * COUNTS["train"]
    assert [train.classnames[label] for label in train.labels[:3]] == ["airplane", "automobile", "bird"]
    few = datasets.load("openood:cifar10", part="train", shots=2, root=root)
    assert sorted(few.labels.tolist()) == sorted([*range(10)] * 2)


def test_imagenet_names_come_from_the_wordnet_ids_of_its_training_list(root, tmp_path):
    ids = [line.split()[0] for line in _published("imagenet").read_text().splitlines()]
    lists = tmp_path / "benchmark_imglist/imagenet"
    lists.mkdir(parents=True)
    lines = (f"imagenet_1k/train/{own}/{own}_1.JPEG {label}\n" for label, own in enumerate(ids))
    (lists / "train_imagenet.txt").write_text("".join(lines))
    (lists / "test_imagenet.txt").write_text("imagenet_1k/val/a.JPEG 999\n")
    file = tmp_path / "images_largescale/imagenet_1k/val/a.JPEG"
    file.parent.mkdir(parents=True)
    file.write_bytes(next(Path(root).rglob("*.JPEG")).read_bytes())
    images = datasets.load("openood:imagenet", root=tmp_path)
    assert len(images.classnames) == 1000 and images.classnames[:2] == ("tench", "goldfish")
    assert list(known_images("openood:imagenet", root=str(tmp_path))[0]) == ["test"]


def _published(name):
    return Path(datasets.__file__).parent / f"lists/class_names/{name}.txt"


def test_a_whole_benchmark_is_run_with_groups_known_by_name(root, saved):
    sets, shared = ["openood:cifar10", "covariate=ninco"], {"root": root, "replicates": 0, "quiet": True}
    report = ow.detect(model=saved, id="openood:cifar10", ood=sets, detector=["MSP", "KNN:k=3"], **shared)
    groups = {"near": ("CIFAR-100", "TinyImageNet"), "far": ("MNIST", "SVHN", "Textures", "Places365")}
    groups |= {"covariate": ("NINCO",)}
    sets = [(own.name, own.group) for own in report.found.others]
    assert sets == [(name, group) for group, names in groups.items() for name in names]
    assert (len(report.found.test), len(report.found.validation)) == (30, 20)
    assert report.results.value("KNN:k=3", "auroc", group="near").value is not None


def test_words_of_the_command_give_the_same_sets(root):
    sets = named_sets(["svhn", "near:mine=tin", "far=openood:imagenet/near"], root, "openood:cifar10")
    expected = [("SVHN", "far"), ("mine", "near"), ("SSB-hard", "far"), ("NINCO", "far")]
    assert [(own.name, own.group) for own in sets] == expected


@pytest.mark.parametrize(
    ("ood", "said"),
    [
        (["far:one=openood:imagenet"], "names 5 sets"),
        (["ninco", "near=NINCO"], "two sets are called NINCO"),
        (["nothing-there"], "known by name"),
        (["nearby=ninco"], "did you mean 'near'"),
    ],
)
def test_words_that_name_no_set_are_refused(root, ood, said):
    with pytest.raises(ow.OpenworldError, match=said):
        named_sets(ood, root)


def test_what_is_missing_is_named_with_its_place_and_its_source(root, tmp_path):
    with pytest.raises(ow.OpenworldError) as refused:
        datasets.load("openood:imagenet", domain="imagenet_r", root=root)
    assert str(Path(root) / "benchmark_imglist/imagenet/test_imagenet_r.txt") in str(refused.value)
    assert "benchmark_imglist.zip" in str(refused.value) and "Jingkang50/OpenOOD" in str(refused.value)
    made = make_tree(tmp_path)
    next((made / "images_largescale/ninco").rglob("*.jpeg")).unlink()
    with pytest.raises(ow.OpenworldError) as refused:
        datasets.load("openood:imagenet", domain="ninco", root=made)
    said = str(refused.value)
    (tmp_path / "list.txt").write_text("a b.png 3\nc.png 1\n")
    with pytest.raises(ow.OpenworldError, match="2 of 2 images"):
        named_sets([f"far={tmp_path / 'list.txt'}"])
    assert "1 of 5 images" in said and "Get ninco" in said and str(made / "images_largescale" / "ninco") in said


def test_what_settings_are_chosen_on_is_named_by_its_benchmark(root):
    known, _ = known_images("openood:cifar10", root=root)
    made = Path(root) / "benchmark_imglist/cifar10/val_tin.txt"
    made.write_text((Path(root) / "benchmark_imglist/imagenet/test_ninco.txt").read_text())
    (Path(root) / "images_classic/ninco").symlink_to(Path(root) / "images_largescale/ninco")
    for word in ("openood:cifar10", "openood:cifar10/validation"):
        (found,) = validation_sets([word], known, (), root)
        assert (found.name, len(found.images)) == ("TinyImageNet, validation", 5)


def test_training_images_that_were_not_downloaded_are_said_and_not_needed(root):
    known, notes = known_images("openood:imagenet", root=root)
    assert list(known) == ["test"] and len(known["test"]) == 5
    assert len(notes) == 2 and "train_imagenet.txt is missing" in notes[0]


def test_a_check_says_what_is_there(root, tmp_path):
    found = datasets.check("openood:cifar10", root)
    assert found.counts["train"] == 40 and found.classes == 10 and not found.ok
    assert any("expected 26,032" in fault for fault in found.wrong)
    empty = datasets.check("openood:cifar10", tmp_path)
    assert len(empty.wrong) == len(BENCHMARKS["openood:cifar10"].sets) + 2 and len(empty.remarks) == 1
    with pytest.raises(ow.OpenworldError, match="openood:cifar10: there is no folder"):
        datasets.require_places(["openood:cifar10"], tmp_path)


def test_a_set_of_a_spec_has_its_group_and_its_name_from_the_benchmark():
    known = OODSetSpec("openood:imagenet", "openimage_o")
    assert (known.group, known.name) == ("far", "OpenImage-O")
    chosen = OODSetSpec("openood:imagenet", "imagenet_r", group="covariate", name="renditions")
    assert (chosen.group, chosen.name) == ("covariate", "renditions")
    with pytest.raises(ow.OpenworldError, match="give one of its sets as domain"):
        OODSetSpec("openood:imagenet")
    assert OODSetSpec("emoji-concepts-b").group == "near"


def test_a_state_dict_is_a_model_of_detect_and_its_threshold_is_used_again(root, tmp_path):
    """A ResNet of ten classes in torchvision's layout, with a description beside it."""
    torch.manual_seed(0)
    state_dict = tmp_path / "mine.pth"
    torch.save(resnet((1, 1, 1, 1), 10), state_dict)
    preprocess = classifiers.Preprocess(16, 16, "shortest", (0.5,) * 3, (0.25,) * 3)
    classifiers.describe(state_dict, CIFAR10, preprocess)
    shared = {"model": str(state_dict), "id": "openood:cifar10", "ood": ["svhn"], "root": root}
    report = ow.detect(
        **shared, detector=["MSP", "KNN:k=3", "MDS"], flag_rate=0.1, replicates=0, out=tmp_path / "out", quiet=True
    )
    images = datasets.load("openood:cifar10", domain="svhn", root=root)
    logits = torch.from_numpy(classifiers.load(state_dict).logits(images))
    assert report.found.others[0].scores["MSP"] == pytest.approx(logits.softmax(1).amax(1).numpy(), abs=1e-5)
    flagged = ow.detect("openood:cifar10/svhn", apply=tmp_path / "out", root=root, detector=["MSP"], quiet=True)
    assert flagged.found.scores == pytest.approx(report.found.others[0].scores["MSP"])


def test_a_state_dict_takes_the_names_of_the_images_if_there_are_as_many(root, tmp_path):
    torch.manual_seed(0)
    shared = {"id": "openood:cifar10", "ood": ["svhn"], "root": root, "replicates": 0, "quiet": True}
    for count in (10, 11):
        torch.save(resnet((1, 1, 1, 1), count), tmp_path / f"{count}.pth")
    assert ow.detect(model=str(tmp_path / "10.pth"), detector=["MDS"], **shared).found.detectors == ("MDS",)
    other = str(tmp_path / "11.pth")
    with pytest.raises(ow.OpenworldError, match="tells 11 classes apart and does not name them.*has 10; give --classn"):
        ow.detect(model=other, detector=["MDS"], **shared)
    names = [*CIFAR10, "nothing"]
    assert ow.detect(model=other, detector=["MDS"], classnames=names, **shared).found.detectors == ("MDS",)
