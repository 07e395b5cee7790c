"""Outputs take the place of nothing but what the same command wrote: no device, pipe, link, input or other's file."""

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

import pytest
from every_output import FIT, SHIFT
from in_process import openworld

from openworld.api.arguments import OutputFile, OutputFolder
from openworld.cli.app import COMMANDS
from openworld.core.types import hints_of

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs devices and pipes")

ON = ("estimate", "watch", "w.safetensors", "day.npz")
FILES = {
    "fit": (*FIT, "--out"),
    "watch --state": (*ON, "--state"),
    "watch --json-lines": (*ON, "--json-lines"),
    "watch --prometheus": (*ON, "--prometheus"),
    "check --junit": ("check", "s1", "--require", "auroc >= 0.5", "--junit"),
    "predict": ("predict", "learned", "images", "--new", "a thing", "--out"),
    "decide --page": ("decide", "s1", "--miss-rate", "0.5", "--page"),
    "report": ("report", "s2", "--out"),
    "report --table": ("report", "s2", "--table", "csv", "--out"),
}
FOLDERS = {
    "watch": (*ON, "--out"),
    "estimate": ("estimate", "--source", "src.npz", "--target", "live.npz", "--estimator", "DoC", "--out"),
    "open world": ("estimate", "--open-world", "--source", "stream.csv", "--target", "stream.csv", "--out"),
    "plan": ("label", "plan", "stream.csv", "--out"),
    "read": ("label", "read", "answered", "--out"),
    "detect": ("detect", "--scores", "scores.csv", "--replicates", "0", "--out"),
    "detect --apply": ("detect", "--apply", "dets", "new.csv", "--out"),
    "average": ("average", "s1", "s2", "--out"),
    "score": ("score", "p1.csv", "--out"),
    "run": ("run", "spec.toml", "--out"),
    "demo": ("demo", "--preset", "quick", "--out"),
    "reproduce": ("reproduce", "openworldauc", "--data", "embedded", "--out"),
    "shift": (*SHIFT, "--out"),
    "synthesize": ("synthesize", "--painter", "rendered", "--reference", "others", "--images", "images", "--out"),
    "report --figures": ("report", "s2", "--figures", "svg", "--out"),
    "new": ("new", "learner", "Mine", "--out"),
    "overlaps": ("data", "overlaps", "caltech101", "--published", "--out"),
}
HELD = {  # a kind of target -> its path in the folder, and words of the refusal
    "device": ("device.parquet", "is a device"),
    "pipe": ("pipe.parquet", "is a pipe"),
    "link": ("link.parquet", "is a link to"),
    "link to nothing": ("dangling.parquet", "is a link to"),
    "/proc": ("/proc/x.parquet", "cannot be written"),
    "below a file": ("spec.toml/x.parquet", "cannot be written"),
    "long name": (f"{250 * 'x'}.parquet", "cannot be written"),
}
OF_FILES = HELD | {
    "folder": (".", "is a folder"),
    "own state": ("old.state.safetensors", "the state of"),
    "fitted watch": ("w.safetensors", ""),
    "run.json": ("s1/run.json", "belongs to a run in"),
    "record": ("s1/units/new/record.json", "belongs to a run in"),
    "results": ("s1/results.parquet", "belongs to a run in"),
    "plan": ("answered/plan.safetensors", "belongs to a plan of labels"),
    "thresholds": ("dets/thresholds.json", "belongs to compared detectors"),
}
OF_FOLDERS = HELD | {
    "file": ("spec.toml", "is a file; give a folder"),
    "run": ("warm", "holds a run"),
    "plan": ("answered", "holds a plan"),
    "detectors": ("dets", "holds"),
    "estimate": ("earlier", "holds an estimate"),
    "page": ("means", "holds the page of another command"),
    "learner": ("learned", "holds a saved learner"),
}
OWN = {  # what a command may write into again, or refuses in other words
    ("watch --state", "own state"),
    ("watch --json-lines", "device"),
    ("watch --json-lines", "pipe"),
    ("fit", "fitted watch"),
    ("run", "run"),
    ("demo", "run"),
    ("detect", "detectors"),
    ("estimate", "estimate"),
    ("open world", "estimate"),
    ("read", "plan"),  # the folder of the plan itself
    ("average", "page"),
    ("report --figures", "run"),
}
ALONE = ("new", "predict", "plan")  # which look at the place themselves


@pytest.fixture(scope="module")
def world(tmp_path_factory, inputs_of_all):
    """Inputs, and outputs of every kind."""
    folder = tmp_path_factory.mktemp("outputs") / "world"
    shutil.copytree(inputs_of_all, folder)
    for arguments in (
        (*ON, "--state", "old.state.safetensors"),
        ("estimate", "--source", "src.npz", "--target", "live.npz", "--estimator", "DoC", "--out", "earlier"),
        ("average", "s1", "s2", "--out", "means"),
    ):
        assert openworld(*arguments, cwd=folder).exit_code in (0, 4)
    os.mkfifo(folder / "pipe.parquet")
    (folder / "link.parquet").symlink_to("src.npz")
    (folder / "dangling.parquet").symlink_to("nothing")
    with suppress(PermissionError):  # only root makes devices
        os.mknod(folder / "device.parquet", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    return folder


def seen(folder):
    """What lies in a folder, by name: kind, size, time, and where links lead."""
    found = {}
    for path in sorted(folder.rglob("*")):
        state = path.lstat()
        if not path.name.endswith(".lock"):
            found[str(path)] = state.st_mode, state.st_rdev, not path.is_dir() and (state.st_size, state.st_mtime_ns)
    return found


def tried(name, place):
    """Kinds of what a place may hold that a command meets: two of those that one function refuses for all commands."""
    held = tuple(HELD)
    return set(held if name in ALONE else (held[place % len(held)], held[(place + 3) % len(held)]))


CASES = {
    f"{name}, {kind}": (name, kind, *calls[name], *targets[kind])
    for calls, targets in ((FILES, OF_FILES), (FOLDERS, OF_FOLDERS))
    for place, name in enumerate(calls)
    for kind in targets
    if (name, kind) not in OWN and (kind not in HELD or kind in tried(name, place))
}


def test_every_option_that_names_what_is_written_is_tried():
    rules = {
        (words, command.option(name))
        for words, command in COMMANDS.items()
        for name, kind in hints_of(command.load()).items()
        if any(isinstance(rule, OutputFile | OutputFolder) for rule in getattr(kind, "__metadata__", ()))
    }
    calls = [*FILES.values(), *FOLDERS.values()]
    assert rules - {(call[:1], call[-1]) for call in calls} - {(call[:2], call[-1]) for call in calls} == set()


@pytest.mark.parametrize("case", CASES)
def test_a_place_that_is_taken_is_refused_and_nothing_changes(world, case):
    name, kind, *call, target, words = CASES[case]
    if kind == "device" and not (world / target).exists():
        pytest.skip("only root makes devices")
    before = seen(world)
    done = openworld(*call, target, cwd=world, cache=world / "cache")
    assert done.exit_code == 2, (done.stdout, done.stderr)
    assert Path(target).name in done.stderr and ("give" in done.stderr or "choose" in done.stderr.lower()), done.stderr
    assert words in done.stderr or name in ALONE, done.stderr
    assert seen(world) == before


@pytest.mark.parametrize(
    ("call", "target"),
    [
        ((*FIT, "--out"), "src.npz"),
        ((*ON, "--state"), "day.npz"),
        ((*ON, "--json-lines"), "day.npz"),
        ((*ON, "--prometheus"), "w.safetensors"),
        ((*ON, "--prometheus"), "w.state.safetensors"),
        ((*ON, "--json-lines", "new.jsonl", "--prometheus"), "new.jsonl"),
        (("check", "s1", "--require", "auroc >= 0.5", "--against", "s2", "--junit"), "s2"),
        (("report", "s2", "--out"), "s2"),
        (("detect", "--scores", "dets/scores.parquet", "--out"), "dets"),
        (("detect", "--apply", "dets", "new.csv", "--out"), "dets"),
        (("average", "s1", "s2", "--out"), "s1"),
        (("score", "means/results.parquet", "--out"), "means"),
        ((*SHIFT, "--out"), "images"),
        (("estimate", "--source", "images", "--target", "others", "--out"), "images"),
    ],
)
def test_an_input_is_refused_as_an_output(world, call, target):
    before = seen(world)
    done = openworld(*call, target, cwd=world, cache=world / "cache")
    assert done.exit_code == 2 and target in done.stderr, (done.stdout, done.stderr)
    assert seen(world) == before


@pytest.mark.parametrize(
    "call",
    [
        ("estimate", "fit", "--source", "gone.npz", "--out"),
        ("estimate", "watch", "gone.safetensors", "gone.npz", "--state"),
        ("check", "gone", "--require", "auroc >= 0.5", "--junit"),
        ("report", "gone", "--table", "csv", "--out"),
        ("estimate", "--source", "gone.npz", "--target", "gone.npz", "--out"),
        ("label", "read", "gone", "--out"),
        ("detect", "--apply", "gone", "gone.csv", "--out"),
        ("average", "gone", "lost", "--out"),
        ("score", "gone.csv", "--out"),
        ("shift", "--reference", "gone", "--test", "gone", "--out"),
        ("synthesize", "--painter", "rendered", "--reference", "gone", "--out"),
    ],
)
def test_outputs_are_looked_at_before_inputs(world, call):
    done = openworld(*call, "pipe.parquet", cwd=world)
    assert done.exit_code == 2 and "pipe.parquet is a pipe" in done.stderr, done.stderr


def test_lines_may_go_into_a_stream_which_is_never_read(world, tmp_path):
    shutil.copy(world / "w.safetensors", tmp_path)
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    for place, number in ((tmp_path / "pipe", 1), ("/dev/null", 2), ("/dev/zero", 3)):
        state = tmp_path / f"{number}.state.safetensors"
        call = ("estimate", "watch", tmp_path / "w.safetensors", world / "day.npz", "--close", "--state", state)
        done = openworld(*call, "--json-lines", place)
        assert done.exit_code in (0, 4), done.stderr
    assert os.read(reader, 100).startswith(b'{"watch":')
    os.close(reader)


def test_the_same_command_writes_again(world, tmp_path):
    shutil.copytree(world, tmp_path / "w", ignore=shutil.ignore_patterns("pipe.*", "device.*", "cache"), symlinks=True)
    for call in (FILES["check --junit"], FILES["report"], FILES["report --table"], FILES["watch --prometheus"]):
        codes = {openworld(*call, "again.txt", cwd=tmp_path / "w").exit_code for _ in range(2)}
        assert codes <= {0, 4}, call
        os.remove(tmp_path / "w" / "again.txt")
    for name in ("detect", "estimate", "average", "score", "read", "watch"):
        codes = [openworld(*FOLDERS[name], name, cwd=tmp_path / "w").exit_code for _ in range(2)]
        assert set(codes) <= {0, 3, 4}, (name, codes)


def test_a_damaged_run_goes_on_after_what_its_error_advises(world, tmp_path):
    shutil.copytree(world / "warm", tmp_path / "run")
    (tmp_path / "run" / "run.json").write_bytes(b"")
    done = openworld("report", tmp_path / "run")
    assert done.exit_code != 0 and "Delete it and start the run again" in done.stderr
    units = seen(tmp_path / "run" / "units")
    (tmp_path / "run" / "run.json").unlink()
    done = openworld("run", world / "spec.toml", "--out", tmp_path / "run", "--workers", "1", cache=world / "cache")
    assert done.exit_code == 0, done.stderr
    assert seen(tmp_path / "run" / "units") == units
