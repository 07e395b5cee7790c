"""What `openworld doctor` finds: what is installed here, and what a backbone is and which methods run on it.

A backbone is loaded, looked at, and shown some of the embedded images.
"""

import json
import os
import platform
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from importlib.metadata import requires
from pathlib import Path
from typing import Any

from openworld import __version__
from openworld.core.errors import OpenworldError
from openworld.report.table import Column, Row, Table
from openworld.results import TEXT
from openworld.runs.provenance import installed_version
from openworld.runs.scratch import VARIABLES

_REQUIREMENT = re.compile(r"([\w.-]+)[^;]*?>=([\w.]+)[^;]*(?:;.*extra == ['\"]([\w-]+)['\"])?")
DEVELOPERS = ("test", "docs", "build-world")
"""Extras that only work on openworld itself needs."""
DATASET = "emoji-concepts"
_FIRST = 4  # images encoded before the clock starts: what happens only once


def state_of(name: str, needed: str, extra: str, installed: str | None) -> str:
    """Return "there", or what is to be done about a package, which an extra brings ("" for what is always needed)."""
    ours, least = (re.findall(r"\d+", (version or "").partition("+")[0]) for version in (installed, needed))
    if [*map(int, ours)] >= [*map(int, least)]:  # what stands behind a version's numbers is left out
        return "there"
    wanted = f"openworld[{extra}]" if extra else f"{name}>={needed}"
    return f"{'missing' if installed is None else 'too old'}: pip install '{wanted}'"


def installation() -> tuple[dict[str, Any], Table, tuple[str, ...]]:
    """Look at this machine; nothing is changed. Return all as plain values, a table of packages, and lines."""
    requirements = filter(None, map(_REQUIREMENT.match, requires("openworld") or ()))
    packages = [(one[1], one[2], one[3] or "", installed_version(one[1])) for one in requirements]
    # Of several extras that bring a package: the one for models, or the one that bears its name.
    packages.sort(key=lambda package: (package[2] != "", package[2] != "models", package[2] != package[0]))
    needed: dict[str, dict[str, Any]] = {}
    for package in packages:
        if package[2] not in DEVELOPERS:
            needed.setdefault(package[0], dict(zip(("name", "needed", "extra", "installed"), package, strict=True)))
    states = {name: state_of(**package) for name, package in needed.items()}
    devices, places = _devices(), _places()
    plain = {
        "openworld": __version__,
        "python": platform.python_version(),
        "packages": list(needed.values()),
        "devices": devices,
        "places": places,
        "whole": all(state == "there" for name, state in states.items() if not needed[name]["extra"]),
    }
    columns = tuple(Column(TEXT, title, priority=2) for title in ("installed", "at least", "for", "state"))
    rows = [
        Row(name, (one["installed"] or "–", one["needed"], one["extra"] or "everything", states[name]))
        for name, one in needed.items()
    ]
    table = Table("packages", f"openworld {__version__}", "", "package", columns, tuple(rows), best="")
    lines = (
        f"Python {platform.python_version()} on {platform.system()} {platform.machine()}, {os.cpu_count()} processor "
        "cores",
        f"Devices: {', '.join(devices)}",
        *(f"{name}: {place}" for name, place in places.items()),
    )
    return plain, table, lines


def _devices() -> tuple[str, ...]:
    try:
        import torch
    except ModuleNotFoundError:
        return ("unknown without torch",)

    gpus = (
        f"cuda:{number} ({torch.cuda.get_device_name(number)}, "
        f"{torch.cuda.get_device_properties(number).total_memory / 2**30:.0f} GiB)"
        for number in range(torch.cuda.device_count())
    )
    return ("cpu", *gpus, *(["mps"] if torch.backends.mps.is_available() else []))


def _places() -> dict[str, str]:
    from openworld.features import default_cache

    cache, data = default_cache(), os.environ.get("OPENWORLD_DATA")
    variables = [f"${name}" for name in VARIABLES if os.environ.get(name)]
    moved_by = f"{variables[0]} says where" if variables else "$OPENWORLD_CACHE moves it, or $XDG_CACHE_HOME"
    return {
        "Cache": f"{cache}{'' if cache.exists() else ', not there yet'} (openworld cache lists it; {moved_by})",
        "Data sets": data or "$OPENWORLD_DATA is not set; give --data, or a folder of your own",
    }


def check_backbone(
    name: str, *, device: str = "cpu", progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """Load a backbone, try what needs which of its parts, and name an embedded test image of each class with it.

    Return what it is: `image`, `text` and `tokenizer` as far as they are known; `learners` and `methods` by name, None
    where one runs, else what is missing; `zero_shot`, with the 95 % interval of the share (Wilson).
    """
    import numpy as np

    from openworld import backbones, datasets
    from openworld.backbones import TwoTower, needed_files
    from openworld.backbones.towers import require_class_token
    from openworld.learners import all_learners
    from openworld.learners.engine.requirements import lacking, missing_part
    from openworld.shifts.appearance import AppearanceEncoder

    clip, images = backbones.load(name, device=device), datasets.load(DATASET)
    images = images.subset(np.unique(images.labels, return_index=True)[1])
    zero_shot, seconds = _shown(clip, images, progress)
    ours = isinstance(clip, TwoTower)
    engine = getattr(clip.tokenizer, "engine", None)
    kind = {"kind": type(engine.model).__name__, "vocabulary": engine.get_vocab_size()} if engine else {}
    learners: dict[str, Any] = all_learners()
    whole = next((files for files in needed_files(name) if files.complete), None)
    return {
        "name": clip.name,
        "run_by": "openworld" if ours else clip.architecture,
        "family": clip.config.family if ours else "",
        "parameters": sum(one.numel() for one in (clip if ours else clip.module).parameters()),
        "dtype": str(clip.dtype).removeprefix("torch."),
        "device": str(clip.device),
        "joint_dimension": clip.config.joint_dimension,
        "logit_scale": float(clip.logit_scale),
        "pixels": clip.config.image.image_size,
        "image": asdict(clip.config.image) if ours else {},
        "text": asdict(clip.config.text) if ours else {},
        "tokenizer": kind | ({} if clip.tokenizer is None else {"positions": clip.tokenizer.positions}),
        "files": tuple(dict.fromkeys(str(path) for need in whole.needs for path in need.found)) if whole else (),
        "fingerprint": clip.fingerprint,
        "learners": {title: lacking(clip, learner.published("")) for title, learner in learners.items()},
        "methods": {
            "zero-shot names, predict, estimate and its references": None,
            "detectors on embeddings, shift taught by class names": None,
            "GL-MCM (patch features)": missing_part(lambda: require_class_token(clip.image, "patch features need")),
            "shift --taught-by images (activations)": missing_part(lambda: AppearanceEncoder(clip)),
        },
        "zero_shot": zero_shot,
        "seconds_per_image": seconds,
    }


def _shown(clip, images, progress) -> tuple[dict[str, Any], float]:
    """How well it names images, and how long one takes, reading included."""
    import numpy as np
    import torch

    from openworld.datasets.templates import PHOTO, TEMPLATES
    from openworld.features import encode
    from openworld.learners.engine.text_bank import cosine_logits
    from openworld.learners.engine.text_features import encode_names
    from openworld.metrics import wilson_interval
    from openworld.runs.scratch import ScratchFolder

    with torch.no_grad(), ScratchFolder() as scratch:
        text = encode_names(clip, images.classnames, (TEMPLATES.get(DATASET, PHOTO),)).cpu()
        encode(clip, images.subset(range(min(_FIRST, len(images)))), cache=Path(scratch))
        started = time.perf_counter()
        features = encode(clip, images, cache=Path(scratch), progress=progress)
        seconds = (time.perf_counter() - started) / len(images)
        embeddings = torch.from_numpy(np.array(features.embeddings))
    guesses = cosine_logits(embeddings, text, torch.ones(())).argmax(dim=1).numpy()
    right = int((guesses == np.asarray(images.labels)).sum())
    low, high = wilson_interval(right / len(images), len(images))
    counts = {"right": right, "images": len(images), "classes": len(images.classnames)}
    return counts | {"low": low, "high": high}, seconds


def backbone_lines(found: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what `check_backbone` found in words, a line each."""
    family = {"clip": "CLIP", "siglip": "SigLIP", "": "dual encoder"}[found["family"]]
    tally, image, text = found["zero_shot"], f"{found['pixels']} x {found['pixels']} pixels", []
    if found["image"]:
        tower = found["image"]
        token = "class token" if tower["class_token"] else "no class token"
        image += f" in patches of {tower['patch_size']}; {_tower(tower)}, {token}, {tower['activation']}"
    if found["tokenizer"]:
        text.append(f"at most {found['tokenizer']['positions']} tokens")
    if "kind" in found["tokenizer"]:
        text.append(f"vocabulary of {found['tokenizer']['vocabulary']:,} ({found['tokenizer']['kind']})")
    if found["text"]:
        causal = "causal, pooled at the end token" if found["text"]["causal"] else "bidirectional"
        text.append(f"{_tower(found['text'])}, {causal}")
    facts = {
        "images": image,
        "sentences": "; ".join(text) or "by the library's own tokenizer",
        "embeddings": f"{found['joint_dimension']} numbers; cosines are multiplied by {found['logit_scale']:.4g}",
        "files": ", ".join(found["files"]) or "the library's own",
        "fingerprint": found["fingerprint"][:16],
        "zero-shot": f"{tally['right']} of {tally['images']} embedded images named right among {tally['classes']} "
        f"names ({100 * tally['low']:.0f} to {100 * tally['high']:.0f} %; by chance {100 / tally['classes']:.3g} %)",
        "speed": f"{found['seconds_per_image']:.3g} s an image",
    }
    head = f"{found['name']}: {family}, run by {found['run_by']}, {found['parameters'] / 1e6:,.1f} M weights"
    lines = [
        f"{head} in {found['dtype']} on {found['device']}",
        *(f"  {what:<14}{fact}" for what, fact in facts.items()),
    ]
    for what, able in (("learners", found["learners"]), ("methods", found["methods"])):
        by_reason: dict[str | None, list[str]] = {None: []}
        for name, reason in able.items():
            by_reason.setdefault(reason, []).append(name)
        lines.append(f"  {what:<14}run: {', '.join(by_reason.pop(None)) or 'none'}")
        lines += [f"{'':<16}do not: {', '.join(names)}: {reason}" for reason, names in by_reason.items()]
    return tuple(lines)


def find_places(name: str) -> dict:
    """Where a backbone's files are looked for, what is there, and what fetches them; {} for a name that is none."""
    from openworld.backbones import needed_files
    from openworld.backbones.published_files import fetch_commands

    try:
        places = json.dumps([asdict(files) for files in needed_files(name)], default=str)
        return {"places": json.loads(places), "fetch": list(fetch_commands(name))}
    except OpenworldError:
        return {}


def say_places(name: str, files: dict) -> Iterator[str]:
    """Yield what to put where (any one of the places does), then the commands that fetch it (any one of them)."""
    if files["places"]:
        yield f"{name} is read from one of these places:"
    for number, place in enumerate(files["places"], start=1):
        folder = place["folder"] or "a folder of yours, given in place of the name, or the hub cache"
        yield f"  {number}. {folder} (layout of {place['layout']})"
        for need in place["needs"]:
            forms = ", or ".join(" with ".join(form) for form in need["any_of"])
            there = ", ".join(Path(path).name for path in need["found"])
            yield f"       {need['purpose']:<14}{f'there: {there}' if there else forms}"
    if files["fetch"]:
        yield "On a machine with network, one of these fetches it:"
        yield from (f"  {command}" for command in files["fetch"])
        yield (
            "Carry the folder over and give it in place of the name (transformers:FOLDER where transformers runs it), "
            "or the package's cache: ~/.cache/huggingface/hub of the hub ($HF_HUB_CACHE)."
        )


def _tower(settings: dict) -> str:
    return f"{settings['layers']} blocks of {settings['width']}"
