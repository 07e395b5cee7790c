"""Folders and files that commands keep and read again, each made small, with the JSON in it and how it is read.

`KEPT` makes them; `Kept.content` and `Kept.put` read and write their JSON, also where it stands in the header of a
safetensors file, and with a seal that fits; `edits` are what may happen to such JSON.
"""

import json
import shutil
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from openworld.runs.sealed import seal

BAD = (None, True, 0, -1, 7.5, 1e308, 10**400, "", "x" * 3, [], {}, [[]], {"a": []})
"""In the place of any value."""

DEPTH = 100_000


@dataclass(frozen=True)
class Kept:
    """A file that holds JSON.

    Args:
        name: for people. path: of the file.
        read: reads it as the commands do.
        entry: of the header of a safetensors file that is the JSON; "" where the file is JSON.
        sealed: whether it bears a seal of `runs.sealed`.
        again: writes changed JSON with a hash of its own that fits; None where there is no such hash, or a seal.
    """

    name: str
    path: Path
    read: Callable[[], Any]
    entry: str = ""
    sealed: bool = False
    again: Callable[[Any], None] | None = None

    def content(self) -> Any:
        """Return its JSON, without its seal."""
        content = json.loads(self._header()["__metadata__"][self.entry] if self.entry else self.path.read_bytes())
        if self.sealed:
            del content["seal"]
        return content

    def put(self, content: Any) -> None:
        """Write other JSON, vouched for where the file is."""
        if self.again is not None:
            self.again(content)
        elif self.sealed:
            self.path.write_bytes(seal(content))
        else:
            self.put_text(json.dumps(content))

    def put_text(self, text: str) -> None:
        """Write a text in the place of the JSON, as a damaged or edited file has it."""
        if not self.entry:
            self.path.write_text(text)
            return
        data = self.path.read_bytes()
        (length,) = struct.unpack("<Q", data[:8])
        header = self._header()
        header["__metadata__"][self.entry] = text
        written = json.dumps(header).encode()
        self.path.write_bytes(struct.pack("<Q", len(written)) + written + data[8 + length :])

    def _header(self) -> dict[str, Any]:
        data = self.path.read_bytes()
        (length,) = struct.unpack("<Q", data[:8])
        return json.loads(data[8 : 8 + length])


def places(content: Any, path: tuple = ()) -> Iterator[tuple]:
    """Yield the path of every value in JSON; of long lists the first two entries alone."""
    listed = list(content.items()) if isinstance(content, dict) else []
    listed += enumerate(content[:2]) if isinstance(content, list) else ()
    for key, value in listed:
        yield (*path, key)
        yield from places(value, (*path, key))


def value_at(content: Any, path: tuple) -> Any:
    """Return the value at a path."""
    for key in path:
        content = content[key]
    return content


def with_value(content: Any, path: tuple, value: Any) -> Any:
    """Return JSON with another value at a path."""
    changed = json.loads(json.dumps(content))
    value_at(changed, path[:-1])[path[-1]] = value
    return changed


def without(content: Any, path: tuple) -> Any:
    """Return JSON without a key, or an entry of a list."""
    changed = json.loads(json.dumps(content))
    del value_at(changed, path[:-1])[path[-1]]
    return changed


def edits(content: Any) -> Iterator[tuple[str, Any]]:
    """Yield what may have happened to JSON: each key deleted, each value replaced by each of `BAD`."""
    for path in places(content):
        name = ".".join(map(str, path))
        yield f"without {name}", without(content, path)
        for bad in BAD:
            if bad != value_at(content, path) or type(bad) is not type(value_at(content, path)):
                yield f"{name} = {str(bad)[:12]!r}", with_value(content, path, bad)


def texts(content: Any) -> Iterator[tuple[str, str]]:
    """Yield texts that are no JSON of ours: cut, empty, of another kind, nested deep, with numbers that are none."""
    text = json.dumps(content)
    yield "cut", text[: len(text) // 2]
    yield "empty", ""
    yield from ((f"{other} alone", other) for other in ("null", "[]", "3", '"x"', "{}", "NaN"))
    yield "deep", "[" * DEPTH + "]" * DEPTH
    yield "deep within", text[:-1] + ', "more": ' + '{"a": ' * DEPTH + "1" + "}" * (DEPTH + 1)
    yield "not a number", text[:-1] + ', "more": NaN}'
    yield "a long number", text[:-1] + ', "more": ' + "9" * 5000 + "}"


# -- what is kept ---------------------------------------------------------------------------------------


def _arrays(name: str, path: Path, kind: str, read: Callable[[], Any]) -> Kept:
    """A file of sealed arrays of a kind."""
    from openworld.runs.sealed import read_arrays, write_arrays

    arrays = read_arrays(path, kind, lambda about, arrays, _: arrays)
    again = lambda content: write_arrays(path, kind, content["about"], arrays)  # noqa: E731
    return Kept(name, path, read, entry="openworld", again=again)


def of_thresholds(folder: Path) -> Kept:
    """Thresholds of scores alone."""
    import openworld as ow
    from openworld.ood.thresholds import read_saved_thresholds

    rng = np.random.default_rng(0)
    mine = {
        "group": ["id"] * 60 + ["far"] * 20,
        "part": ["validation"] * 40 + ["test"] * 40,
        "MSP": np.r_[rng.random(60) + 1, rng.random(20)],
    }
    ow.detect(scores=mine, flag_rate=0.1, replicates=0, out=folder, quiet=True)
    path = folder / "thresholds.json"
    return Kept("thresholds.json", path, lambda: read_saved_thresholds(folder), sealed=True)


def of_learner(folder: Path) -> Kept:
    """A learner that learns nothing, on the embedded backbone."""
    from openworld import backbones, datasets
    from openworld.features import encode
    from openworld.learners import find_learner, load
    from openworld.learners.engine.fitted import backbone_of

    clip = backbones.load("embedded")
    images = datasets.load("emoji-groups", shots=1, part="train")
    find_learner("zero-shot")().fit(clip, encode(clip, images), seed=1).save(folder)

    def read() -> None:
        backbone_of(folder, "--backbone {}")
        load(folder, clip)

    return Kept("learner.json", folder / "learner.json", read)


def of_classifier(folder: Path) -> Kept:
    """A small network."""
    from openworld import classifiers

    preprocess = classifiers.Preprocess(32, 32, "shortest", (0.5,) * 3, (0.25,) * 3)
    module = classifiers.build("resnet-8", 3, 32)
    classifiers.save(classifiers.Classifier(module, ("a", "b", "c"), preprocess, "resnet-8"), folder)
    return Kept("classifier.json", folder / "classifier.json", lambda: classifiers.load(folder))


def of_exported(folder: Path) -> Kept:
    """What stands beside an exported file; the file itself is not reached."""
    from openworld.classifiers import Preprocess
    from openworld.classifiers.exported import describe, read_description

    (folder / "mine.onnx").write_bytes(b"onnx")
    describe(folder / "mine.onnx", ("a", "b"), Preprocess(32, 32, "shortest", (0.5,) * 3, (0.25,) * 3))
    return Kept("description of an exported file", folder / "mine.json", lambda: read_description(folder / "mine.onnx"))


def _watch(folder: Path) -> tuple[Path, Path]:
    import openworld as ow

    rng = np.random.default_rng(0)

    def scores(count: int) -> dict[str, Any]:
        logits = rng.normal(size=(count, 3)) * 3
        return {"logits": logits, "label": logits.argmax(1), "classnames": ["a", "b", "c"]}

    fitted, state = folder / "watch.safetensors", folder / "watch.state.safetensors"
    ow.fit_watch(scores(80), out=fitted, images=[20], estimator=["AC"], quiet=True, chunk_rows=20)
    day = scores(30)
    del day["label"]
    ow.watch(fitted, day, state=state, quiet=True)
    return fitted, state


def of_watch(folder: Path) -> Kept:
    """What was fitted for a watch."""
    from openworld.label_free.watch.state import FITTED, read_watch

    fitted, _ = _watch(folder)
    return _arrays("fitted file of a watch", fitted, FITTED, lambda: read_watch(fitted))


def of_state(folder: Path) -> Kept:
    """The state of a watch."""
    from openworld.label_free.watch.state import STATE, read_state, read_watch

    fitted, state = _watch(folder)
    watch = read_watch(fitted)
    return _arrays("state of a watch", state, STATE, lambda: read_state(state, watch))


def of_plan(folder: Path) -> Kept:
    """A plan of labels."""
    import openworld as ow
    from openworld.own_data.label.kept_plan import KIND, read_plan

    rng = np.random.default_rng(0)
    stream = {
        "id": [f"i{row}" for row in range(60)],
        "score": rng.normal(size=60),
        "base_name": [f"b{row % 3}" for row in range(60)],
        "new_name": [f"n{row % 3}" for row in range(60)],
    }
    ow.label_plan(stream, out=folder, n=20, quiet=True)
    return _arrays("plan of labels", folder / "plan.safetensors", KIND, lambda: read_plan(folder))


def _run(folder: Path) -> None:
    import openworld as ow

    mine = {"side": ["base", "base", "new", "new"], "score": [0.9, 0.6, 0.7, 0.2], "correct": [1, 1, 1, 1]}
    ow.score(mine, out=folder)


def of_run(folder: Path) -> Kept:
    """run.json."""
    from openworld.results import RunFolder

    _run(folder)
    return Kept("run.json", folder / "run.json", lambda: RunFolder.read(folder), sealed=True)


def of_run_plan(folder: Path) -> Kept:
    """plan.json of a run."""
    from openworld.results import RunFolder

    _run(folder)
    return Kept("plan.json", folder / "plan.json", lambda: RunFolder.read(folder))


def of_record(folder: Path) -> Kept:
    """The record of a unit."""
    from openworld.runs import load_record

    _run(folder)
    path = next(folder.glob("units/*/record.json"))
    return Kept("record.json", path, lambda: load_record(path.parent), sealed=True)


def of_cache(folder: Path) -> Kept:
    """The manifest of encoded images."""
    from openworld import backbones, datasets
    from openworld.features import encode
    from openworld.features.cache import look

    encode(backbones.load("embedded"), datasets.load("emoji-groups").subset(np.arange(4)), cache=folder)
    path = next(folder.glob("*/manifest.json"))
    return Kept("manifest of the cache", path, lambda: look(folder))


def of_backbone(folder: Path) -> Kept:
    """config.json of a checkpoint; the towers are not made."""
    from openworld.backbones.checkpoint_config import from_hugging_face, read_description
    from openworld.backbones.published_files import EMBEDDED

    shutil.copy(EMBEDDED / "config.json", folder)
    path = folder / "config.json"
    return Kept("config.json", path, lambda: read_description(path, from_hugging_face))


def of_preprocessing(folder: Path) -> Kept:
    """preprocessor_config.json of a checkpoint."""
    from openworld.backbones.preprocess import read_preprocess
    from openworld.backbones.published_files import EMBEDDED

    shutil.copy(EMBEDDED / "preprocessor_config.json", folder)
    path = folder / "preprocessor_config.json"
    return Kept("preprocessor_config.json", path, lambda: read_preprocess(folder, "hugging_face"))


def of_decomposition(folder: Path) -> Kept:
    """A kept LAID."""
    import torch

    from openworld.shifts import Decomposition
    from openworld.shifts.decomposition import load_decomposition

    path = folder / "laid.safetensors"
    about = {"method": "LAID", "backbone": "embedded"}
    Decomposition(torch.eye(4)[:, :2], torch.eye(4)[:, 2:], about=about).save(path)
    return Kept("a decomposition", path, lambda: load_decomposition(path), entry="about")


def _generate(folder: Path) -> Callable[[], Any]:
    """Make a generated set in a folder; return what goes on with it."""
    from PIL import Image

    from openworld.shifts import ShiftGrid
    from openworld.shifts.synthesis import Prompts, generate, plan_synthesis, prompt_styles

    class Plain:
        about = {"name": "plain"}

        def fitting(self):
            return 4

        def paint(self, commissions):
            return [Image.new("RGB", (8, 8)) for _ in commissions]

    grid = ShiftGrid(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), (2, 2), least=1)
    plan = plan_synthesis(Prompts(("cat", "owl"), prompt_styles()[:2]), grid, 1, seed=1)
    generate(plan, Plain(), folder)
    return lambda: generate(plan, Plain(), folder)


def of_generated(folder: Path) -> Kept:
    """The manifest of a generated set."""
    from openworld.shifts.synthesis import read_generated

    _generate(folder / "set")
    return Kept("manifest of a generated set", folder / "set" / "manifest.json", lambda: read_generated(folder / "set"))


def of_order(folder: Path) -> Kept:
    """The order of a generated set, which a second call goes on with."""
    again = _generate(folder / "set")
    return Kept("order of a generated set", folder / "set" / "order.json", again)


def of_levels(folder: Path) -> Kept:
    """Levels that an earlier shift cut."""
    from openworld.own_data.shift.command import read_levels
    from openworld.own_data.shift.measurement import START
    from openworld.report.shift_axes import AXES
    from openworld.results import Result, Results, Value

    path, starts = folder / "shift.json", [(level, start) for level, start in enumerate((0.0, 0.1, 0.5))]
    rows = [Result(word, START, Value(start), {"level": level}) for word in AXES.values() for level, start in starts]
    path.write_text(Results("shift", tuple(rows)).to_json())
    return Kept("levels of shift.json", path, lambda: read_levels(path))


def of_shards(folder: Path) -> Kept:
    """The list of a checkpoint's shards."""
    from openworld.backbones.layouts import _shards

    (folder / "a.safetensors").write_bytes(b"")
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps({"metadata": {}, "weight_map": {"x": "a.safetensors"}}))
    return Kept("list of shards", path, lambda: _shards(path))


def of_audit(folder: Path) -> Kept:
    """What was found among the class names of a run."""
    from openworld.datasets.names.audit import audit
    from openworld.report.class_names import read_audits, tell_audits

    tell_audits([audit(("owl", "owls", "crane"), "mine")], folder, print)
    return Kept("audit.json", folder / "audit.json", lambda: read_audits(folder))


def of_fitted_detectors(folder: Path) -> Kept:
    """Fitted detectors."""
    import torch

    from openworld.detectors import KNN, load_together, save_together
    from openworld.detectors.engine.serialization import FITTED

    path = folder / "fitted.safetensors"
    save_together({"KNN": KNN(k=1).fit(torch.eye(4))}, path)
    return _arrays("fitted detectors", path, FITTED, lambda: load_together(path))


KEPT = tuple(make for name, make in list(globals().items()) if name.startswith("of_"))
