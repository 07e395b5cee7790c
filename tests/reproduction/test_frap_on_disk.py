"""FRAP with what a folder holds: published corruptions in the place of those made here, and Tiny-ImageNet."""

import sys
from pathlib import Path

import pytest

from openworld import OpenworldError
from openworld.classifiers import PUBLISHED as TRAININGS
from openworld.datasets.checking import lacking_corruptions
from openworld.datasets.corruptions import CORRUPTIONS
from openworld.evaluations.image_selection import DatasetSpec
from openworld.label_free.benchmark.spec import AccuracyEstimationSpec, ModelSpec, TargetSpec
from openworld.reproduction.frap import CORRUPTED, worlds_on_disk
from openworld.reproduction.plan import ReproductionSetup, plan

sys.path.insert(0, str(Path(__file__).parents[1] / "datasets"))

import shifted_trees  # noqa: E402
import tiny_trees  # noqa: E402
import trees  # noqa: E402

EVERY = tuple(CORRUPTIONS)


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENWORLD_DATA", str(tmp_path))
    return tmp_path


def world(root, name):
    return next(world for world in worlds_on_disk(root) if world.name == name)


def run_of(root, name):
    made = plan("frap", (), ReproductionSetup(str(root)))
    return made, next(run for run in made.runs if run.name.startswith(name))


def test_an_empty_folder_changes_nothing(root):
    assert all(not world.corrupted_files for world in worlds_on_disk(root))
    made, run = run_of(root, "cifar10")
    assert run.name == "cifar10" and not run.spec.corrupted_files
    assert "are made here from test images" in " ".join(made.remarks)


def test_published_corruptions_are_read_where_they_are(root):
    shifted_trees.plant_cifar10(root)
    shifted_trees.plant_cifar_c(root, "CIFAR-10-C", 10, EVERY)
    assert lacking_corruptions("cifar10-c", root) == ()
    made, run = run_of(root, "cifar10")
    assert (run.name, run.spec.corrupted_files) == ("cifar10-published-corruptions", "cifar10-c")
    assert "cifar10-c" in made.downloads
    said = " ".join(made.remarks)
    assert "Corrupted images of CIFAR-10 are those of CIFAR-10-C as published" in said
    assert "Corruptions of CIFAR-100, ImageNet" in said
    files = {"corruptions": EVERY, "corrupted_files": "cifar10-c", "images": None}
    spec = AccuracyEstimationSpec(sources=(DatasetSpec("cifar10"),), models=(ModelSpec("convnet"),), **files)
    conditions = {(one.corruption, one.severity): one for one in spec.conditions}
    assert len(conditions) == 95 and {one.kind for one in conditions.values()} == {"synthetic"}
    shown = conditions["gaussian_noise", 3]
    assert shown.name == "gaussian noise 3" and shown.corruption == "gaussian_noise"
    images = shown.images.load()
    expected = shifted_trees.corrupted_pixels("gaussian_noise", 3)
    assert [images.image(row).getpixel((0, 0)) for row in range(10)] == [tuple(one[0, 0]) for one in expected]


def test_corruptions_that_the_files_lack_are_made_here_and_named(root):
    shifted_trees.plant_cifar10(root)
    shifted_trees.plant_cifar_c(root, "CIFAR-10-C", 10, EVERY[:15])
    made, run = run_of(root, "cifar10")
    assert run.spec.made_here == EVERY[15:]
    assert "speckle noise, gaussian blur, spatter and saturate of CIFAR-10 are not on disk" in " ".join(made.remarks)
    conditions = {one.corruption: one.images for one in run.spec.conditions if one.severity == 2}
    assert conditions["spatter"].corruption == "spatter" and str(conditions["spatter"].sources[0]) == "cifar10"
    assert conditions["fog"].corruption is None and str(conditions["fog"].sources[0]) == "cifar10-c, fog 2"


def test_imagenet_c_serves_the_subsets_of_imagenet(root):
    for name in ("imagenet", "imagenet-r"):
        trees.plant(root, name)
    ids = sorted(trees.WORDNET)
    tiny_trees.plant_folders_c(root / "ImageNet-C", ids, EVERY[:1], each=1)
    assert world(root, "imagenet").corrupted_files == world(root, "entity13").corrupted_files == "imagenet-c"
    shown = DatasetSpec("imagenet-200", "gaussian_noise 4").images().load()
    assert len(shown) == len(shown.classnames) == 3
    assert [shown.image(row).getpixel((0, 0))[0] for row in range(3)] == [
        ids.index(one) for one in sorted(trees.SUBSETS["imagenet-r"])
    ]
    novel = TargetSpec("living17", "target", row="N", corrupted_row="N")
    spec = AccuracyEstimationSpec(
        sources=(DatasetSpec("living17", "source"),),
        models=(ModelSpec("resnet-18"),),
        targets=(novel,),
        corruptions=("fog",),
        corrupted_files="imagenet-c",
    )
    read = [str(one.images.sources[0]) for one in spec.conditions if one.severity == 3]
    assert read == ["living17, source fog 3", "living17, target fog 3"]


def test_table_3_of_isood_reads_imagenet_c_where_all_of_it_is_there(root):
    def halves():
        made = plan("is-ood", ["3"], ReproductionSetup(str(root)))
        return made.runs[0], " ".join(made.remarks)

    tiny_trees.plant_folders_c(root / "imagenet-c", ["n01440764"], EVERY[:14], each=1)
    run, said = halves()
    assert run.name == "halves" and len(run.spec.sets) == 3 and "are made here" in said
    tiny_trees.plant_folders_c(root / "imagenet-c", ["n01440764"], EVERY[14:15], each=1)
    run, said = halves()
    assert run.name == "halves-published-corruptions" and "ImageNet-C as published" in said
    corrupted = [entry for entry in run.spec.sets if entry.row == "ImageNet-C"]
    assert len(corrupted) == 75 and {entry.dataset for entry in corrupted} == {"imagenet-c"}
    assert corrupted[0].domain == "gaussian_noise 1" and corrupted[0].looks == ("plain",)


def test_the_users_tiny_imagenet_goes_first(root):
    tiny_trees.plant_tiny(root)
    tiny_trees.plant_folders_c(root / "Tiny-ImageNet-C", tiny_trees.IDS, EVERY[:15], each=1)
    tiny_trees.plant_folders_c(root / "Tiny-ImageNet-C-extra", tiny_trees.IDS, EVERY[15:], each=1)
    made, run = run_of(root, "tiny-imagenet")
    assert run.spec.sources == (DatasetSpec("tiny-imagenet"),) and run.spec.corrupted_files == "tiny-imagenet-c"
    assert run.datasets["tiny-imagenet"] == "Tiny-ImageNet" and not run.spec.made_here
    assert [target.domain for target in run.spec.targets][-2:] == ["imagenet-sketch", "imagenet-r"]
    assert {target.row for target in run.spec.targets} == {"IN200-N"}
    assert "imagenet-200" not in made.downloads and "tiny-imagenet" in made.downloads
    assert "Tiny-ImageNet is the folder tiny-imagenet-200" in " ".join(made.remarks)
    assert TRAININGS["tiny-imagenet"].recipe == TRAININGS["imagenet-200"].recipe
    assert len(run.spec.conditions[-1].images.load()) == 4


def test_every_source_that_is_corrupted_has_published_files():
    corrupted = {world.name for world in worlds_on_disk(Path("nowhere")) if world.corruption_row}
    assert corrupted == set(CORRUPTED) - {"tiny-imagenet"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"corrupted_files": "cifar10c"}, "cifar10-c"),
        ({"corrupted_files": "fmow"}, "data set of corrupted images"),
        ({"made_here": ("fog",)}, "give corrupted_files too"),
        ({"corrupted_files": "cifar10-c", "made_here": ("mist",)}, "corruption"),
        ({"corrupted_files": "cifar10-c", "corrupted_part": "train"}, "holds test images"),
    ],
)
def test_files_that_do_not_fit_are_refused(wrong, message):
    with pytest.raises(OpenworldError, match=message):
        AccuracyEstimationSpec(
            sources=(DatasetSpec("cifar10"),), models=(ModelSpec("convnet"),), corruptions=EVERY, **wrong
        )
