"""FRAP's plan: the paper's rows, models and references, in settings that can be run; and what it will cost."""

import pytest
from paper_runs import plan_of

from openworld.datasets import DATASETS
from openworld.evaluations import read_protocol
from openworld.evaluations.image_selection import DatasetSpec
from openworld.papers import SHIFTS, TABLES
from openworld.reproduction.cost import cost, cost_in_words
from openworld.reproduction.frap import METHODS, SIGLIP, WORLDS, logit_scale

REAL, EMBEDDED = plan_of("frap"), plan_of("frap", data="embedded")


def run(name, found=REAL):
    (one,) = [one for one in found.runs if one.name == name]
    return one


def test_every_row_of_the_paper_comes_from_one_run():
    rows = [row for world in WORLDS for row in world.rows]
    assert sorted(rows) == sorted(SHIFTS)
    assert [world.title for world in WORLDS if world.title not in TABLES["frap"]["2"].datasets] == []


def test_the_papers_seeds_models_and_references():
    assert REAL.setup.seeds == (0, 1, 10) and REAL.tables == tuple(TABLES["frap"])
    for one in REAL.runs:
        references = {named.name: named.backbone for named in one.spec.references}
        assert references == {"CLIP": "openai/clip-vit-base-patch32", "SigLIP": SIGLIP, "dirichlet": ""}
    models = {one.name: [model.architecture for model in one.spec.models] for one in REAL.runs}
    assert models["mnist"] == ["convnet"] and models["cifar10"] == ["resnet-18", "densenet-121"]
    assert models["fmow"] == models["entity30"] == ["timm:resnet50", "timm:densenet121"]
    assert [one.checkpoints for one in run("cifar100").spec.models] == [(100, 200, 300)] * 2


@pytest.mark.parametrize(
    ("name", "natural", "corrupted"),
    [("mnist", 3, 0), ("cifar10", 1, 95), ("imagenet", 4, 95), ("imagenet-200", 5, 95), ("fmow", 12, 0)],
)
def test_conditions_are_the_papers(name, natural, corrupted):
    kinds = [one.kind for one in run(name).spec.conditions]
    assert (kinds.count("natural"), kinds.count("synthetic")) == (natural, corrupted)


def test_breeds_shows_same_and_novel_subclasses_as_they_are_again_and_corrupted():
    conditions = run("living17").spec.conditions
    rows = [one.row for one in conditions]
    assert rows.count("L17-S") == rows.count("L17-N") == 1 + 3 + 95
    novel = {one.domain for one in conditions if one.row == "L17-N"}
    assert novel == {"target", *(f"target {one}" for one in ("imagenetv2", "imagenetv2-threshold", "imagenetv2-top"))}


def test_the_natural_shift_of_cifar_100_is_its_own_test_set_and_that_of_cifar_10_is_10_2():
    for name, target in {
        "cifar100": ("cifar100", "test", "C100-N"),
        "cifar10": ("cifar10.2", "train", "C10-N"),
    }.items():
        (found,) = run(name).spec.targets
        assert (found.dataset, found.part, found.row) == target


def test_every_target_is_a_domain_and_part_of_a_data_set():
    for one in (*REAL.runs, *EMBEDDED.runs):
        for target in one.spec.targets:
            card = DATASETS[target.dataset]
            assert (target.domain or "") in card.domains and target.part in card.parts


def test_embedded_runs_say_that_they_are_of_other_data_and_without_siglip():
    (one,) = EMBEDDED.runs
    assert "stand for none of the paper's" in EMBEDDED.remarks[0] and "SigLIP's methods" in EMBEDDED.remarks[1]
    assert not one.datasets and [named.name for named in one.spec.references] == ["CLIP", "dirichlet"]
    assert set(one.methods) == {name for name in METHODS if "SigLIP" not in name}
    assert {model.architecture for model in one.spec.models} and len(one.spec.models) == 3
    assert len(one.spec.corruptions) == 19 and one.spec.images == 1000
    with_siglip = plan_of("frap", data="embedded", backbone="ViT-B/32")
    assert set(with_siglip.runs[0].methods) == set(METHODS)


def test_the_embedded_world_is_that_of_the_example(repository):
    example = read_protocol(repository / "examples" / "accuracy-estimation-embedded.toml")
    own = EMBEDDED.runs[0].spec
    for name in ("training", "source", "conditions", "models", "seeds"):
        assert getattr(own, name) == getattr(example, name), "what is trained and looked at serves both"


def test_fixed_temperatures_are_those_of_the_references():
    def taus(found):
        return {one.label: one.settings["tau"] for one in found.runs[0].spec.estimators if "fixed" in one.label}

    assert taus(REAL) == {"FRAP (CLIP) fixed tau": 0.01, "FRAP (SigLIP) fixed tau": pytest.approx(1 / 117.33, abs=1e-6)}
    assert taus(EMBEDDED) == {"FRAP (CLIP) fixed tau": pytest.approx(1 / logit_scale("embedded"), abs=1e-6)}


def test_quick_runs_train_for_fewer_epochs_on_fewer_images():
    quick = plan_of("frap", quick=10)
    cifar = run("cifar10", quick).spec
    assert cifar.images == 1000
    recipe = cifar.models[0].recipe
    assert (recipe["epochs"], tuple(recipe["milestones"]), cifar.models[0].checkpoints) == (30, (10, 20), (10, 20, 30))
    assert run("imagenet", quick).spec.models[0].checkpoints == (1, 2)
    (one,) = plan_of("frap", data="embedded", quick=8).runs
    assert one.spec.images == 125 and one.spec.models[0].recipe["epochs"] == 2


def test_fewer_methods_have_folders_of_their_own_and_a_table_of_references_alone_still_has_an_estimator():
    (one,) = plan_of("frap", ("2",), data="embedded", learners=("CLIP raw",)).runs
    assert [entry.label for entry in one.spec.estimators] == ["AC"] and one.methods == {"CLIP raw": "CLIP raw"}
    assert run("cifar10-ac-cot", plan_of("frap", ("1",), learners=("AC", "COT")))


def test_one_network_of_one_seed_has_no_partner():
    alone = plan_of("frap", seeds=(0,))
    assert "GDE" not in run("mnist-seed-0", alone).methods and "GDE" in run("cifar10-seed-0", alone).methods
    assert "GDE is left out there" in alone.remarks[-1]


# PlanCost


def test_images_are_counted_without_data():
    images = {run["name"]: run["images"] for run in cost(REAL)["runs"]}
    assert images["mnist"] == 10_000 + 60_000 + 2007 + 26_032
    assert images["cifar10"] == 10_000 + 10_000 + 95 * 10_000
    assert REAL.units == 276 and run("living17").units == 18
    assert DatasetSpec("fmow", "Africa").count_images() < DatasetSpec("fmow").count_images()


def test_images_of_the_embedded_world_are_those_that_are_looked_at():
    found, spec = cost(EMBEDDED), EMBEDDED.runs[0].spec
    assert len(spec.conditions) == 8 + 95 and found["units"] == 27
    assert found["images"] == len(spec.source.load()) + 103 * 1000
    assert all(len(one.images.load()) == 1000 for one in spec.conditions[:9])
    logits, embeddings, records = 4 * 27 * 100, 4 * 512, 27 * (4 * 100_000 + 16 * found["images"])
    assert found["bytes"] == found["images"] * (logits + embeddings) + records
    assert "27 units (one checkpoint" in cost_in_words(found)
