"""IS-OOD's plan: the published division on downloaded data, one made here on embedded ones; and what it counts."""

import pytest

from openworld import OpenworldError
from openworld.detectors import PROFILES
from openworld.protocols import read_protocol
from openworld.protocols._isood_cost import pictures_of, shift_cost
from openworld.protocols._isood_plan import METHODS
from openworld.protocols.reproduction import Ground, plan, units_of
from openworld.report.published import TABLES, published_numbers

EMBEDDED = plan("is-ood")


def test_the_embedded_run_is_that_of_the_example(repository):
    example = read_protocol(repository / "examples" / "incremental-shift-embedded.toml")
    (run,) = EMBEDDED.runs
    assert EMBEDDED.tables == run.tables == ("1", "4", "6", "8")
    for name in ("ground", "division", "seeds", "id_kept"):
        assert getattr(run.spec, name) == getattr(example, name)
    assert run.spec.models == example.models[:1] and not run.datasets
    assert EMBEDDED.units == units_of(run.spec) == 3


def test_detectors_are_the_papers_by_its_names():
    printed = {one.method for one in published_numbers("is-ood", "1")}
    assert set(METHODS) == printed == {one.name for one in PROFILES["is-ood"]}


def test_downloaded_data_are_read_as_published():
    found = plan("is-ood", ["1", "2", "8"], Ground("data"))
    real, made = found.runs
    assert (real.name, real.tables, made.name, made.tables) == ("imagenet21k", ("1", "8"), "SynIS", ("2",))
    assert real.spec.cells.lists == ("data/imglist/imagenet21k/val",) and real.spec.cells.pictures == "data/imagenet21k"
    assert real.spec.cells.tested == made.spec.cells.tested == "data/imglist/imagenet1k/test_imagenet.txt"
    assert made.spec.cells.pictures == "data/SynIS" and real.datasets == {"given cells": "ImageNet-21K"}
    assert real.spec.classes == "all" and real.spec.shots is None and found.downloads == ("imagenet",)
    assert units_of(real.spec) == 1, "a saved classifier is judged once, whatever the seeds"


def test_fewer_detectors_and_quicker_runs():
    (run,) = plan("is-ood", ["1"], Ground(learners=("knn", "MSP"), seeds=(1,), quick=4)).runs
    assert run.name == "emoji-msp-knn-seed-1" and list(run.methods) == ["MSP", "KNN"]
    assert run.spec.images == 100 and run.spec.models[0].recipe == {"epochs": 6}


@pytest.mark.parametrize(("table", "why"), [("3", "decomposed_zero_shot"), ("5", "generated pictures")])
def test_tables_that_cannot_be_made_say_why(table, why):
    with pytest.raises(OpenworldError, match=f"Table {table} of is-ood is .*{why}"):
        plan("is-ood", [table])


def test_unknown_detectors_name_the_known_ones():
    with pytest.raises(OpenworldError, match="did you mean 'GradNorm'"):
        plan("is-ood", ["1"], Ground(learners=("GradNrm",)))


def test_what_it_comes_to_is_counted_without_data():
    found = plan("is-ood", ["1", "2"], Ground("elsewhere"))
    told = shift_cost(found, workers=2)
    assert [run.pictures for run in told.runs] == [522_500 + 45_000, 320_000 + 45_000]
    assert told.units == 2 and told.seconds is None and told.workers == 2
    (run,) = EMBEDDED.runs
    pool = run.spec.ground
    assert pictures_of(run) == len(pool.test.load()) + sum(len(one.load()) for one in pool.tested)


def test_every_table_but_the_third_is_of_incremental_shift():
    assert {TABLES["is-ood"][number].kinds for number in TABLES["is-ood"]} == {("incremental-shift",)}
