"""A folder that somebody else made is data: no command that reads one imports what it names, or opens a connection.

Every text in every JSON that a command reads is replaced, one at a time, by the name of a planted module and by that of
a repository of the hub, with seals that fit. What decides is named by the person who starts the command.
"""

import builtins
import contextlib
import importlib
import itertools
import json
import re
import shutil
import socket
import sys

import numpy as np
import pytest
from kept_files import KEPT, places, value_at, with_value
from PIL import Image

import openworld as ow
from openworld import OpenworldError, classifiers
from openworld.cli.app import app
from openworld.cli.in_process import invoke
from openworld.runs.sealed import seal, unseal

CODE, HUB = "planted.marker:go", "nobody/planted-model"
HOSTILE = (
    CODE,
    "os:getcwd",
    HUB,
    f"{HUB}@main",
    f"hf-hub:{HUB}",
    f"transformers:{HUB}",
    "open_clip:ViT-B-32/planted",
    "timm:resnet18",
    f"timm:hf-hub:{HUB}",
    "ViT-L/14",
)
MARKER = "import pathlib\npathlib.Path({!r}).touch()\n\n\ndef go(*given, **named):\n    raise SystemExit(0)\n"
SIDE = 32


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """The current folder has a module `planted`; whether it was imported, or a connection was opened, is noted."""
    home = tmp_path / "downloaded"
    (home / "planted").mkdir(parents=True)
    (home / "planted" / "marker.py").write_text(MARKER.format(str(tmp_path / "ran")))
    monkeypatch.chdir(home)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    done, load, find = [], importlib.import_module, builtins.__import__

    def note(name, *rest, **named):
        if str(name).split(".")[0] in ("planted", "open_clip", "timm"):
            done.append(f"imported {name}")
        return load(name, *rest, **named)

    def note_statement(name, *rest, **named):
        if name.split(".")[0] in ("planted", "open_clip", "timm"):
            done.append(f"imported {name}")
        return find(name, *rest, **named)

    def refuse(self, address):
        done.append(f"connected to {address}")
        raise OSError("no network in this test")

    monkeypatch.setattr(importlib, "import_module", note)
    monkeypatch.setattr(builtins, "__import__", note_statement)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **named: done.append(f"looked up {given[0]}") or [])
    path = list(sys.path)
    yield home, done
    sys.path[:] = path
    sys.modules.pop("planted", None)
    sys.modules.pop("planted.marker", None)
    assert not done and not (tmp_path / "ran").exists(), done


@pytest.mark.parametrize("make", KEPT, ids=lambda make: make.__name__)
def test_no_text_of_a_kept_file_is_imported_or_fetched(make, kept_of, watched):
    (_, done), kept = watched, kept_of(make)
    good, content = kept.path.read_bytes(), kept.content()
    texts = [path for path in places(content) if isinstance(value_at(content, path), str)]
    for path, name in zip(texts[:60], itertools.cycle((CODE, HUB))):
        changed = with_value(content, path, name)
        if kept.again is None or "about" in changed:
            kept.put(changed)
        with contextlib.suppress(OpenworldError):
            kept.read()
        assert not done, (kept.name, path, name)
        kept.path.write_bytes(good)


@pytest.fixture(scope="module")
def detected(tmp_path_factory):
    """A folder with thresholds of a small classifier in a folder `kept`, and images to flag."""
    home = tmp_path_factory.mktemp("detected")
    rng = np.random.default_rng(0)
    for part, names in (("mine/validation", "abc"), ("mine/test", "abc"), ("others", "x")):
        for name in names:
            (home / part / name).mkdir(parents=True)
            for number in range(4):
                pixels = rng.integers(0, 255, (SIDE, SIDE, 3), dtype=np.uint8)
                Image.fromarray(pixels).save(home / part / name / f"{number}.png")
    preprocess = classifiers.Preprocess(SIDE, SIDE, "shortest", (0.5,) * 3, (0.25,) * 3)
    module = classifiers.build("resnet-8", 3, SIDE)
    classifiers.save(classifiers.Classifier(module, ("a", "b", "c"), preprocess, "resnet-8"), home / "model")
    how = {"id": "mine", "ood": ["far=others"], "detector": ["MSP"], "flag_rate": 0.2, "replicates": 0}
    with contextlib.chdir(home):
        ow.detect(model="model", out="kept", quiet=True, **how)
    return home


@pytest.fixture
def thresholds(watched, detected):
    """The file of thresholds, in a copy of that folder that is the current one."""
    shutil.copytree(detected, watched[0], dirs_exist_ok=True)
    return watched[0] / "kept" / "thresholds.json"


def edit(path, **changes):
    content = unseal(path.read_bytes())
    content["model"] |= changes
    path.write_bytes(seal(content))


def test_thresholds_name_no_code_and_nothing_to_fetch(thresholds):
    good = thresholds.read_bytes()
    for key, option in (("model", "--model"), ("architecture", "--architecture"), ("members", "--member")):
        for name in HOSTILE:
            if (key, name) == ("architecture", "timm:resnet18"):  # timm builds such a network and fetches no weights
                continue
            thresholds.write_bytes(good)
            edit(thresholds, **{key: (name,) if key == "members" else name})
            with pytest.raises(OpenworldError, match=rf"thresholds\.json.*{re.escape(name)}") as told:
                ow.detect("others", apply="kept", quiet=True)
            said = str(told.value)
            assert f"{option} {name}" in said or (key == "architecture" and "name a function" in said), (key, name)


def test_a_model_that_is_named_again_is_used_and_checked(thresholds, tmp_path):
    edit(thresholds, model="made_here:model")
    with pytest.raises(OpenworldError, match="--model made_here:model"):
        ow.detect("others", apply="kept", quiet=True)
    assert len(ow.detect("others", apply="kept", model="model", quiet=True).found.scores) == 4
    edit(thresholds, fingerprint="0" * 64)
    with pytest.raises(OpenworldError, match="another model"):
        ow.detect("others", apply="kept", model="model", quiet=True)


def test_a_file_that_may_run_code_is_allowed_by_the_person_alone(thresholds):
    (thresholds.parents[1] / "script.pt2").write_bytes(b"an archive")
    description = (thresholds.parents[1] / "model" / "classifier.json").read_text()
    kept = {key: value for key, value in json.loads(description).items() if key in ("classnames", "preprocess")}
    (thresholds.parents[1] / "script.json").write_text(json.dumps(kept))
    edit(thresholds, model="script.pt2", architecture="torch.export")
    with pytest.raises(OpenworldError, match="may run code of its own .*--architecture torch.export"):
        ow.detect("others", apply="kept", quiet=True)
    with pytest.raises(OpenworldError, match="cannot be loaded as torch.export"):
        ow.detect("others", apply="kept", architecture="torch.export", quiet=True)


@pytest.fixture
def learner(thresholds):
    """A saved learner in a folder `learner`, and how its backbone is replaced."""
    from openworld import backbones, datasets
    from openworld.features import encode
    from openworld.learners import find_learner

    clip, home = backbones.load("embedded"), thresholds.parents[1]
    shots = encode(clip, datasets.load("emoji-groups", shots=1, part="train"))
    find_learner("zero-shot")().fit(clip, shots, seed=1).save(home / "learner")
    file = home / "learner" / "learner.json"
    text = file.read_text()
    return lambda name: file.write_text(text.replace('"backbone": "embedded"', f'"backbone": {json.dumps(name)}'))


def test_a_saved_learner_names_no_code_and_nothing_to_fetch(learner, thresholds):
    from openworld.ood.model_entries import JudgedSpec

    edit(thresholds, model="learner")
    for name in HOSTILE:
        learner(name)
        for call in (
            lambda: ow.predict("learner", "others", new=["a", "b"], quiet=True),
            lambda: ow.detect(model="learner", id="mine", ood=["far=others"], quiet=True),
            lambda: ow.detect("others", apply="kept", quiet=True),
        ):
            with pytest.raises(OpenworldError) as told:
                call()
            assert f"--backbone {name}" in str(told.value) and "learner.json" in str(told.value)
        with pytest.raises(OpenworldError) as told:
            JudgedSpec(learner="./learner")
        assert f'backbone = "{name}"' in str(told.value)
    assert len(ow.predict("learner", "others", new=["a", "b"], backbone="embedded", quiet=True).found.rows) == 4


def test_a_saved_classifier_names_no_code_and_nothing_to_fetch(thresholds):
    file = thresholds.parents[1] / "model" / "classifier.json"
    for name in (CODE, "os:getcwd", f"timm:hf-hub:{HUB}", f"timm:{HUB}", "no-such-net"):
        file.write_text(json.dumps(json.loads(file.read_text()) | {"architecture": name}))
        for call in (
            lambda: classifiers.load("model"),
            lambda: ow.detect("others", apply="kept", quiet=True),
            lambda: ow.detect(model="model", id="mine", ood=["far=others"], quiet=True),
            lambda: ow.estimate("mine/test", "mine/test", model="model", quiet=True),
        ):
            with pytest.raises(OpenworldError, match=re.escape(name)):
                call()


def test_a_finished_run_is_read_and_nothing_of_its_spec_is_run(watched, tmp_path):
    home, done = watched
    mine = {"side": ["base", "base", "new", "new"], "score": [0.9, 0.6, 0.7, 0.2], "correct": [1, 1, 1, 1]}
    ow.score(mine, out=home / "run")
    run = unseal((home / "run" / "run.json").read_bytes())
    run["given"] = run["resolved"] = (run["resolved"] or {}) | {
        "protocol": "recognition",
        "backbone": CODE,
        "dataset": HUB,
        "models": [{"architecture": CODE, "weights": "script.pt", "learner": "learner", "backbone": HUB}],
        "learners": [{"learner": CODE}],
    }
    (home / "run" / "run.json").write_bytes(seal(run))
    shutil.copytree("run", "other")
    for words in (
        "report run",
        "report run --table csv",
        "compare run other",
        "average run other --out means",
        "check run --require openworld_auc>=0",
        "check run --against other",
        "decide run --miss-rate 0.2",
        "cite run",
        "predict run planted --new a",
        "run run/run.json --out again",
    ):
        ended = invoke(app, words.split())
        assert ended.exception is None or isinstance(ended.exception, SystemExit), (words, ended.exception)
        assert not done, words


def test_a_spec_says_which_code_it_runs_before_it_runs_it(watched):
    from openworld.evaluations.running import code_named

    spec = {"backbone": CODE, "models": [{"weights": "mine.pt2", "architecture": "torch.export"}], "title": "a:b"}
    assert code_named(spec) == (f"{CODE} from ./planted/marker.py", "mine.pt2, loaded by torch.export")
