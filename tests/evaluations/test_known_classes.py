"""Which classes are base and which are new: by names, text files and folders, in every evaluation that cuts them."""

import shutil
import tomllib

import pytest
from small_specs import SMALL, draw

import openworld as ow
from openworld import OpenworldError
from openworld.cli.app import app
from openworld.cli.in_process import invoke
from openworld.evaluations import evaluation_of, read_protocol
from openworld.evaluations.recognition_by_shift.spec import names_of
from openworld.evaluations.running import class_lists

NAMES = ("blue square", "green square", "red square", "yellow square")
ZERO_SHOT = ({"learner": "zero-shot"},)
FEW = {"shots": 2, "seeds": [1], "views": 1, "learners": ZERO_SHOT}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with small drawings, where names of data sets are looked for."""
    draw(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def recognition(**fields):
    return FEW | {"dataset": "squares", "resamples": 1} | fields


def ran(**fields):
    return ow.run(recognition(**fields), "run", quiet=True, workers=1)


def split_of(**fields):
    return read_protocol(recognition(**fields)).tested.split


def test_lists_cut_classes_into_sides_of_unequal_sizes_and_leave_the_others_out(place):
    run = ran(base=["yellow square"], new=["red_square", "Blue square"])
    table = run.images.to_pydict()
    sides = {*zip(table["label_name"], table["side"], strict=True)}
    assert sides == {("yellow square", "base"), ("red square", "new"), ("blue square", "new")}
    record = run.run_folder.records[0].metrics
    assert record["classnames"] == ["yellow square", "blue square", "red square"]
    assert (record["n_base_classes"], record["n_new_classes"], record["left_out"]) == (1, 2, ["green square"])
    assert "1 left out" in run.page.subtitle


def test_of_one_list_the_other_side_is_the_rest(place):
    (task,) = evaluation_of(spec := read_protocol(recognition(new=["red square"]))).tasks(spec)
    assert task.tested.split.base_names == ("blue square", "green square", "yellow square")
    assert set(task.image_sets["train"].load().labels.tolist()) == {0, 1, 2}


def test_names_stand_in_a_text_file(place):
    (place / "known.txt").write_text("red square\n\nblue_square\n")
    spec = read_protocol(recognition(base="known.txt"))
    assert spec.base == ("red square", "blue square") and spec.tested.split.new_names == (NAMES[1], NAMES[3])


def test_two_folders_say_it_too(place):
    for part in ("train", "validation", "test"):
        (place / "known" / part).mkdir(parents=True)
        for name in NAMES[:3]:
            shutil.copytree(place / "squares" / part / name, place / "known" / part / name)
    shutil.copytree(place / "squares" / "test" / NAMES[3], place / "unknown" / NAMES[3])
    split = split_of(base="known", new="unknown", dataset="known")
    assert (split.base_names, split.new_names) == (NAMES[:3], NAMES[3:])
    without = {name: value for name, value in recognition(base="known", new="unknown").items() if name != "dataset"}
    assert read_protocol(without) == read_protocol(without | {"dataset": "known"})
    shutil.copytree(place / "known" / "test" / NAMES[0], place / "clashing" / "Blue_square")
    with pytest.raises(OpenworldError, match="'blue square' is a class of 'known' and of clashing"):
        split_of(dataset="known", new="clashing")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"base": ["red square", "Red_square"]}, "listed more than once"),
        ({"base": ["red square"], "new": ["red square"]}, "listed more than once"),
        ({"base": ["rod square"]}, "did you mean 'red square'"),
        ({"base": list(NAMES)}, "no class is left for the new side"),
        ({"base": "nowhere"}, "expected a list of class names, a text file"),
        ({"base": "squares"}, "base is the folder squares, and new is \\(\\)"),
        ({"base": "squares", "new": "stripes", "dataset": "darker"}, "leave dataset out"),
        ({"base": "missing.txt"}, "no file missing.txt"),
    ],
)
def test_what_is_not_understood_is_refused(place, fields, words):
    with pytest.raises(OpenworldError, match=words):
        spec = read_protocol(recognition(**fields))
        evaluation_of(spec).summary(spec)


def test_generalisation_cuts_its_source_and_every_variant_alike(place):
    source = {"dataset": "squares", "base": ["yellow square"], "new": ["red square", "blue square"]}
    spec = FEW | {"protocol": "generalisation", "source": source, "variants": [{"dataset": "darker"}]}
    spec |= {"others": [{"dataset": "stripes"}]}
    run = ow.run(spec, "run", quiet=True, workers=1)
    targets = run.run_folder.records[0].metrics["targets"]
    counts = [(target["n_base_classes"], target["n_new_classes"], target["left_out"]) for target in targets]
    assert counts == [(1, 2, ["green square"]), (1, 2, ["green square"]), (1, 4, [])]
    assert any("neither base nor new: 1." in table.caption for table in run.terminal_tables)
    with pytest.raises(OpenworldError, match="the source alone says that"):
        read_protocol(spec | {"variants": [{"dataset": "darker", "base": ["red square"]}]})


def test_scenarios_of_classes_keep_the_sides_and_draw_their_order(place):
    squares = {"dataset": "squares", "base": ["red square"], "new": ["blue square", "yellow square"]}
    scenarios = {"protocol": "dynamic", "scenarios": ["emerging-classes", "varying-ratio"], "datasets": [squares]}
    spec = read_protocol(FEW | scenarios | {"seeds": [1, 2, 3]})
    splits = [task.split for task in evaluation_of(spec).tasks(spec)]
    assert {split.base_names for split in splits} == {("red square",)}
    assert {frozenset(split.new_names) for split in splits} == {frozenset({"blue square", "yellow square"})}
    assert {task.tuned_on for task in spec.tasks()} == {"base classes"}
    assert "squares: 1 base + 2 new classes, 1 left out" in evaluation_of(spec).summary(spec)


def test_recognition_by_shift_leaves_other_classes_out_of_its_pool(place):
    given, rugs = tomllib.loads(SMALL["recognition-by-shift"]), tuple(f"{name.split()[0]} rug" for name in NAMES[:3])
    pool = {"pool": [*given["pool"], {"dataset": "stripes"}]}
    spec = read_protocol(given | pool | {"base": ["red square"], "new": ["blue square", *rugs]})
    split = names_of(spec.ground)
    assert (split.base_names, split.new_names) == (("red square",), ("blue square", *rugs))
    assert len(spec.ground.left_out) == 3 and "1 base + 4 new classes, 3 left out" in spec.summary()
    with pytest.raises(OpenworldError, match="did you mean 'blue square'"):
        read_protocol(given | {"new": ["bleu square"]}).summary()
    with pytest.raises(OpenworldError, match="beside sources and pool"):
        read_protocol(given | {"sources": [{"dataset": "squares", "new": ["red square"]}]})


def test_the_audit_reads_the_sides_and_not_the_order(place):
    spec = read_protocol(recognition(base=["yellow square"], new=["red square"]))
    (names,) = class_lists(spec)
    assert (names.names, names.base_count, names.by_order) == (("yellow square", "red square"), 1, False)
    (place / "known.txt").write_text("cat\n")
    (place / "all.txt").write_text("dog\ncats\ncat\nowl\n")
    done = invoke(app, ["data", "audit", "all.txt", "--base", "known.txt"])
    assert "base 'cat' and new 'cats'" in done.output


def test_a_pattern_of_file_names_makes_groups_that_intervals_know(place):
    for file in (place / "squares").rglob("*.png"):
        file.rename(file.with_name(f"video{int(file.stem) // 2}_frame{file.stem}.png"))
    framed = ran(group_pattern="(.+)_frame")
    assert [row.value.value for row in framed.results.where(metric="groups")] == [8], "of 16 test images"
    assert "one group count together (8)" in framed.terminal_tables[0].caption
    with pytest.raises(OpenworldError, match="finds nothing in 16 of 16 paths"):
        split_of(group_pattern="clip")
    with pytest.raises(OpenworldError, match="no regular expression"):
        read_protocol(recognition(group_pattern="("))
