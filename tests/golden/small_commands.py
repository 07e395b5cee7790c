"""Calls of every command on one's own data, through what `import openworld` offers; each tells all its reports.

A call is made in the folder of `small_worlds.draw`, with an empty folder for what it keeps.
"""

import csv
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

import openworld as ow

NAMES = ("ant", "bee", "cat", "dog")
QUIET: dict[str, Any] = {"quiet": True, "device": "cpu"}


def scored(count: int, seed: int, *, sure: float = 2.0, days: int = 0) -> dict[str, np.ndarray]:
    """Columns of a classifier of four classes that is surer than it is right, and of a model that knows less."""
    generator = np.random.default_rng([seed, 3])
    labels = generator.integers(0, 4, count)
    truth = np.eye(4)[labels]
    columns = {"logits": 2 * (generator.normal(size=(count, 4)) + sure * truth), "labels": labels}
    columns["reference"] = 0.2 + 0.02 * (generator.normal(size=(count, 4)) + truth)
    columns["id"] = np.array([f"{seed}-{row:04}" for row in range(count)])
    if days:
        seconds = np.sort(generator.integers(0, 86_400 * days, count))
        columns["time"] = np.datetime_as_string(np.datetime64("2024-01-01T00:00:00") + seconds.astype("timedelta64[s]"))
    return columns


def unlabelled(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The columns without the truth."""
    return {name: column for name, column in columns.items() if name != "labels"}


def late_labels(columns: dict[str, np.ndarray], share: float) -> dict[str, np.ndarray]:
    """The labels of a share of the images, drawn at random."""
    drawn = np.flatnonzero(np.random.default_rng(5).random(len(columns["id"])) < share)
    inclusion = np.full(len(drawn), share)
    return {"id": columns["id"][drawn], "label": columns["labels"][drawn], "inclusion": inclusion}


def estimate(_: Path) -> Any:
    return ow.estimate(scored(300, 0), unlabelled(scored(250, 1, sure=1.2)), **QUIET)


def estimate_against_truth(_: Path) -> Any:
    target = scored(250, 1, sure=1.2)
    return ow.estimate(scored(300, 0), target, by_class=True, classnames=NAMES, alert=0.7, false_alarms=0.05, **QUIET)


def estimate_with_partners(_: Path) -> Any:
    others = {"source_partner": [scored(300, 0, sure=1.5)], "target_partner": [unlabelled(scored(250, 1, sure=1.0))]}
    for side in others.values():
        side[0].pop("reference")
    source, target = scored(300, 0), unlabelled(scored(250, 1, sure=1.2))
    return ow.estimate(source, target, estimator=["AC", "DoC", "GDE"], **others, **QUIET)


def estimate_with_known_shifts(_: Path) -> Any:
    names = ("fog-1", "fog-2", "rain-1", "rain-2", "night-1")
    for number, name in enumerate(names):
        np.savez(f"{name}.npz", **scored(200, 20 + number, sure=1.8 - 0.3 * number))
    shifts = [f"{name.partition('-')[0]}={name}.npz" for name in names]
    source, target = scored(300, 0), unlabelled(scored(250, 1, sure=1.2))
    return ow.estimate(source, target, estimator=["AC", "DoC", "COT"], labelled_shift=shifts, **QUIET)


def estimate_over_time(_: Path) -> Any:
    source, target = scored(300, 0), scored(360, 2, sure=1.4, days=3)
    how = {"timestamps": "time", "period": "1d", "alert": 0.7, "estimator": ["AC", "DoC", "FRAP"]}
    labelled = ow.estimate(source, unlabelled(target), **how, labels=late_labels(target, 0.3), **QUIET)
    return ow.estimate(source, unlabelled(target), **how, by_class=True, classnames=NAMES, **QUIET), labelled


def estimate_by_chunks(_: Path) -> Any:
    target = unlabelled(scored(400, 2, sure=1.4))
    return ow.estimate(scored(300, 0), target, chunks=4, estimator=["AC", "DoC"], **QUIET)


def estimate_with_labels(out: Path) -> Any:
    target = scored(500, 1, sure=1.2)
    how = {"estimator": ["AC", "DoC"], "labels": late_labels(target, 0.2), "propose": 40, "out": out}
    return ow.estimate(scored(300, 0), unlabelled(target), **how, **QUIET)


def estimate_by_level(_: Path) -> Any:
    generator, steps = np.random.default_rng(7), {0.0: 3, 0.5: 4, 1.0: 6}
    parts = []
    for level, classes in steps.items():
        logits = 2 * generator.normal(size=(120, 6))
        logits[:, classes:] = -np.inf
        shares = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        labels = (shares.cumsum(1) < generator.random((120, 1))).sum(1).clip(max=classes - 1)
        like = np.where(np.isfinite(logits), logits + 2 * generator.normal(size=logits.shape), -np.inf)
        parts.append({"logits": logits, "labels": labels, "level": np.full(120, level), "reference": like})
    stream = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    stream["id"] = np.tile(np.arange(120), 3)
    source = {name: stream[name][:120].copy() for name in ("logits", "labels", "reference")}
    source["logits"][:, 3:] = generator.normal(size=(120, 3)) - 2
    source["reference"][:, 3:] = generator.normal(size=(120, 3)) - 2
    told = ow.estimate(source, unlabelled(stream), levels="level", **QUIET)
    return told, ow.estimate(source, stream, levels="level", estimator=["AC", "FRAP"], **QUIET)


def open_stream(count: int, seed: int, share: float, *, labelled: bool) -> dict[str, Any]:
    """Columns of a learner of four base and four new names."""
    generator = np.random.default_rng([seed, 11])
    new = generator.random(count) < share
    label = np.where(new, 4, 0) + generator.integers(0, 4, count)
    logits = generator.normal(size=(count, 8))
    logits[np.arange(count), label] += 2.0
    names = [*(f"base {number}" for number in range(4)), *(f"new {number}" for number in range(4))]
    columns = {"logits": logits, "zero_shot": logits + generator.normal(size=logits.shape)}
    columns |= {"classnames": names, "n_base": 4, "id": np.array([f"{seed}-{row:04}" for row in range(count)])}
    if labelled:
        columns |= {"side": np.where(new, "new", "base"), "label": np.array(names)[label]}
    return columns


def estimate_open_world(_: Path) -> Any:
    source = open_stream(300, 0, 0.0, labelled=True)
    told = ow.estimate(source, open_stream(400, 1, 0.4, labelled=False), open_world=True, new_share=0.4, quiet=True)
    return told, ow.estimate(source, open_stream(400, 1, 0.4, labelled=True), open_world=True, quiet=True)


def estimate_on_images(_: Path) -> Any:
    return ow.estimate("squares/test", "darker/test", model="embedded", estimator=["AC", "DoC"], **QUIET)


def watch(out: Path) -> Any:
    out.mkdir()
    days = scored(600, 4, sure=1.5, days=5)
    half = {name: column[:330] for name, column in days.items()}
    rest = {name: column[330:] for name, column in days.items()}
    fit = {"timestamps": "time", "period": "1d", "images": [120], "alert": 0.75, "estimator": ["AC", "DoC", "FRAP"]}
    fitted = out / "watch.safetensors"
    answers = [ow.fit_watch(scored(400, 0), fitted, **fit, quiet=True)]
    files = {"json_lines": out / "lines.jsonl", "prometheus": out / "watch.prom", "quiet": True}
    answers.append(ow.watch(fitted, unlabelled(half), **files))
    answers.append(ow.watch(fitted, unlabelled(rest), close=True, **files))
    answers.append(ow.watch(fitted, labels=late_labels(half, 0.5), out=out / "page", propose=20, **files))
    collected = [line.split() for line in (out / "watch.prom").read_text().splitlines() if not line.startswith("#")]
    numbers = {words[0]: float(words[-1]) for words in collected}
    return (*answers, (out / "lines.jsonl").read_text(), numbers)


def _detector_scores() -> dict[str, Any]:
    """Scores of two detectors on in-distribution images, and on others near, far and otherwise drawn."""
    generator = np.random.default_rng(13)
    counts = {"id": 60, "near": 40, "far": 40, "covariate": 30}
    away = {"id": 0.0, "near": 0.6, "far": 1.6, "covariate": 0.3}
    group = np.repeat(list(counts), list(counts.values()))
    shared = generator.normal(size=len(group)) - np.array([away[name] for name in group])
    part = np.where((group == "id") & (np.arange(len(group)) < 30), "validation", "test")
    columns = {"group": group, "set": np.char.add(group, (np.arange(len(group)) % 2).astype(str)), "part": part}
    columns["set"] = np.where(group == "id", "mine", columns["set"])
    columns["image"] = np.array([f"{row}.png" for row in range(len(group))])
    return columns | {"MSP": shared, "KNN": 1.5 * shared + generator.normal(size=len(group))}


def detect_from_scores(out: Path) -> Any:
    scores = _detector_scores()
    fresh = {"image": [f"n{row}.png" for row in range(20)], "MSP": scores["MSP"][-20:], "KNN": scores["KNN"][-20:]}
    found = ow.detect(scores=scores, flag_rate=0.1, replicates=20, out=out, quiet=True)
    return found, ow.detect(fresh, apply=out, detector=["KNN"], at_most=0.5, quiet=True)


def detect_by_shift(_: Path) -> Any:
    generator = np.random.default_rng(17)
    degrees = generator.random((240, 2))
    group = np.array(["id"] * 80 + ["pool"] * 240)
    away = np.concatenate([np.zeros(80), degrees @ [2.0, 0.7]])
    scores = {"group": group, "MSP": generator.normal(size=320) - away, "KNN": generator.normal(size=320) - 0.5 * away}
    places = np.concatenate([np.full((80, 2), np.nan), degrees])
    scores |= {"semantic": places[:, 0], "covariate": places[:, 1]}
    return ow.detect(scores=scores, levels=4, least=3, quiet=True)


def detect_on_images(out: Path) -> Any:
    sets = {"near:stripes": "stripes/test", "far:rings": "rings/test", "covariate:darker": "darker/test"}
    how = {"id": "squares", "ood": [f"{title}={place}" for title, place in sets.items()], "detector": ["MCM", "Energy"]}
    found = ow.detect(model="embedded", **how, flag_rate=0.2, replicates=20, out=out, **QUIET)
    return found, ow.detect("stripes/test", apply=out, detector=["MCM"], **QUIET)


def detect_with_a_search(_: Path) -> Any:
    generator = np.random.default_rng(19)
    labels = np.arange(180) % 3
    inside = generator.normal(size=(180, 5)) + 2 * np.eye(3, 5)[labels]
    mine = {"features": inside.astype(np.float32), "labels": labels}
    np.savez("mine.npz", **mine, part=np.repeat(["train", "validation", "test"], 60))
    for name in ("others", "strange"):
        np.savez(f"{name}.npz", features=generator.normal(size=(50, 5)).astype(np.float32))
    np.savez("head.npz", weight=np.eye(3, 5, dtype=np.float32), bias=np.zeros(3, np.float32))
    how = {"id": "mine.npz", "ood": ["near=others.npz"], "validation_ood": ["strange.npz"], "detector": ["KNN", "MSP"]}
    return ow.detect(model="head.npz", **how, replicates=20, **QUIET)


def _answer(folder: Path) -> None:
    """Answer a worksheet as somebody would who sees the first, the second, the third answer in turn."""
    with (folder / "worksheet.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    for place, line in enumerate(lines):
        line["answer"] = ("base right", "new right", "new wrong", "base right", "base wrong")[place % 5]
    with (folder / "worksheet.csv").open("w", newline="") as file:
        sheet = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        sheet.writeheader()
        sheet.writerows(lines)


def label(out: Path) -> Any:
    stream = unlabelled(open_stream(500, 3, 0.4, labelled=False))
    planned = ow.label_plan(stream, out, n=60, quiet=True)
    _answer(out)
    read = ow.label_read(out, quiet=True)
    return planned, read, ow.label_plan(stream, add=out, n=40, quiet=True)


def label_of_two_models(out: Path) -> Any:
    first, second = open_stream(500, 3, 0.4, labelled=False), open_stream(500, 3, 0.4, labelled=False)
    second["logits"] = second["zero_shot"]
    return ow.label_plan(first, out, compare=second, n=60, design="stratified", quiet=True)


def label_of_a_classifier(out: Path) -> Any:
    target = unlabelled(scored(400, 1, sure=1.2)) | {"classnames": list(NAMES)}
    return ow.label_plan(target, out, within=5, quiet=True)


def shift_of_images(_: Path) -> Any:
    words = [
        f"{colour} {thing}" for colour in ("blue", "green", "red") for thing in NAMES + ("owl", "fox", "eel", "hen")
    ]
    how = {"levels": 4, "least": 2, "neighbour": 3, "classnames": words}
    return ow.shift("squares/train", ["darker/test", "stripes/test"], **how, **QUIET)


def shift_of_embeddings(_: Path) -> Any:
    generator = np.random.default_rng(23)
    known = generator.normal(size=(150, 8)).astype(np.float32) + 3 * np.eye(1, 8, dtype=np.float32)
    moved = generator.normal(size=(80, 8)).astype(np.float32) + 3 * np.eye(1, 8, 2, dtype=np.float32)
    names = generator.normal(size=(24, 6, 8)).astype(np.float32)
    reference = {"embeddings": known, "class_embeddings": names, "classnames": [f"thing {n}" for n in range(24)]}
    with patch("openworld.own_data.shift.decomposition.STEPS", 100):  # images have the usual ones
        return ow.shift(reference, {"embeddings": moved}, levels=4, least=2, neighbour=3, **QUIET)


def _predictions(seed: int) -> dict[str, Any]:
    """Base and new images of two models and two seeds, some of them for validation."""
    generator, parts = np.random.default_rng([seed, 29]), []
    for model, skill in (("first", 0.8), ("second", 1.3)):
        for number in (1, 2):
            new = np.arange(120) % 2 == 1
            label = np.where(new, 4, 0) + np.arange(120) % 8 // 2
            right = generator.random(120) < 0.4 + 0.3 * skill / 1.3
            part = {"model": np.full(120, model), "seed": np.full(120, number), "id": np.arange(120)}
            part |= {"group": np.arange(120) // 2, "part": np.where(np.arange(120) < 40, "validation", "test")}
            part |= {"side": np.where(new, "new", "base"), "label": np.char.add("c", label.astype(str))}
            part["prediction"] = np.char.add("c", np.where(right, label, (label + 1) % 8).astype(str))
            scores = {"score": generator.normal(size=120) - skill * new, "confidence": generator.random(120)}
            parts.append(part | scores)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def synthesize(out: Path) -> Any:
    """The plan of a set and the set; the command line alone offers it, and tells it as JSON."""
    from openworld.cli.app import app
    from openworld.cli.in_process import invoke

    clip = ow.backbones.load("embedded")
    about = {"method": "by hand", "backbone": clip.name, "weights": clip.fingerprint}
    split = ow.shifts.Decomposition.of_matrix(torch.eye(clip.config.joint_dimension), about=about)
    split.save(Path("split.safetensors"))
    how = ["synthesize", "--painter", "rendered", "--levels", "3", "--each", "2", "--least", "1", "--neighbour", "1"]
    how += ["--reference", "squares/train", "--images", "stripes/test", "--laid", "split.safetensors"]
    how += ["--out", str(out), "--device", "cpu", "--json"]
    made = invoke(app, how)
    assert made.exit_code == 0, made.output
    return (made.stdout,)


def score_and_what_follows(out: Path) -> Any:
    """Two runs of predictions, each with what is asked of finished runs."""
    first, second = ow.score(_predictions(1), out / "first"), ow.score(_predictions(2), out / "second")
    checked = ow.check(first, ["openworld_auc >= 0.4", "auroc >= 0.6"])
    decided = ow.decide(first, miss_rate=0.5)
    answers = (first, decided, ow.compare(first, second), ow.compare(first, second, "auroc"), checked)
    return (*answers, ow.check(second, against=first), ow.average([first, second]))


def predict(out: Path) -> Any:
    spec = {"dataset": "squares", "shots": 2, "seeds": [1], "views": 1, "learners": [{"learner": "zero-shot"}]}
    run = ow.run(spec, out / "run", cache=out / "cache", workers=1, device="cpu", quiet=True)
    how = {"run_names": True, "top": 2, "device": "cpu", "quiet": True}
    return ow.predict(run, [Path("squares/test/red sign"), Path("squares/test/blue square")], threshold=0.3, **how)


COMMANDS = {
    call.__name__.replace("_", "-"): call
    for call in (
        *(estimate, estimate_against_truth, estimate_with_partners, estimate_with_known_shifts, estimate_over_time),
        *(estimate_by_chunks, estimate_with_labels, estimate_by_level, estimate_open_world, estimate_on_images, watch),
        *(detect_from_scores, detect_by_shift, detect_on_images, detect_with_a_search),
        *(label, label_of_two_models, label_of_a_classifier, shift_of_images, shift_of_embeddings),
        *(synthesize, score_and_what_follows, predict),
    )
}
"""Name of a case -> a call that returns a report, or several, and texts or mappings of numbers beside them."""
