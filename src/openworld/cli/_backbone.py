"""The words of `openworld backbone check`."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from openworld._errors import OpenworldError

_ASIDE = 14  # columns of the words on the left


def say(model, out) -> None:
    """Everything that a check found, a line each."""
    family = {"clip": "CLIP", "siglip": "SigLIP", "": "dual encoder"}[model.family]
    out.print(
        f"{model.name}: {family}, run by {model.run_by}, {model.parameters / 1e6:,.1f} M weights in {model.dtype} on "
        f"{model.device}",
        style="bold",
        markup=False,
    )
    figure = model.zero_shot
    lines = {
        "images": f"{model.pixels} x {model.pixels} pixels{_image(model.image)}",
        "sentences": _text(model.text, model.tokenizer),
        "embeddings": f"{model.joint_dimension} numbers; cosines are multiplied by {model.logit_scale:.4g}",
        "files": _files(model.files),
        "fingerprint": model.fingerprint[:16],
        "zero-shot": f"{figure.right} of {figure.pictures} embedded images named right among {figure.classes} names "
        f"({100 * figure.low:.0f} to {100 * figure.high:.0f} %; by chance {100 / figure.classes:.3g} %)",
        "speed": f"{model.seconds_per_picture:.3g} s an image",
    }
    for what, words in lines.items():
        out.print(f"  {what:<{_ASIDE}}{words}", markup=False)
    _say_able("learners", model.learners, out)
    _say_able("methods", model.methods, out)


def _image(tower: dict) -> str:
    if not tower:
        return ", by the model's own processor"
    token = "class token" if tower["class_token"] else "no class token"
    return (
        f" in patches of {tower['patch_size']}; {tower['layers']} blocks of {tower['width']}, {token}, "
        f"{tower['activation']}"
    )


def _text(tower: dict, tokenizer: dict) -> str:
    read = [f"at most {tokenizer['positions']} tokens"] if tokenizer else []
    if "kind" in tokenizer:
        read.append(f"vocabulary of {tokenizer['vocabulary']:,} ({tokenizer['kind']})")
    if tower:
        causal = "causal, pooled at the end token" if tower["causal"] else "bidirectional"
        read.append(f"{tower['layers']} blocks of {tower['width']}, {causal}")
    return "; ".join(read) or "by the library's own tokenizer"


def _files(files: Sequence[str]) -> str:
    """The files of a folder together.

    >>> _files(["/a/config.json", "/a/model.safetensors"])
    '/a: config.json, model.safetensors'
    """
    folders: dict[str, list[str]] = {}
    for file in map(Path, files):
        folders.setdefault(str(file.parent), []).append(file.name)
    return "; ".join(f"{folder}: {', '.join(names)}" for folder, names in folders.items()) or "the library's own"


def _say_able(what: str, able: dict[str, str | None], out) -> None:
    """Print those that run, then those that do not, by what is missing."""
    runs = [name for name, missing in able.items() if missing is None]
    out.print(f"  {what:<{_ASIDE}}run: {', '.join(runs) or 'none'}", markup=False)
    lacking: dict[str, list[str]] = {}
    for name, missing in able.items():
        if missing is not None:
            lacking.setdefault(missing, []).append(name)
    for missing, names in lacking.items():
        out.print(f"  {'':<{_ASIDE}}do not: {', '.join(names)}: {missing}", markup=False)


def places(name: str) -> dict:
    """Where a backbone's files are looked for, what is there, and what fetches them; {} for a name that is none."""
    from openworld.backbones import needed_files
    from openworld.backbones.fetching import fetch_commands

    try:
        places = json.loads(json.dumps([asdict(files) for files in needed_files(name)], default=str))
        return {"places": places, "fetch": list(fetch_commands(name))}
    except OpenworldError:
        return {}


def say_places(name: str, files: dict, out) -> None:
    """What to put where; any one of the places does. Then the commands that fetch it, any one of them."""
    if files["places"]:
        out.print(f"{name} is read from one of these places:", style="bold", markup=False)
    for number, place in enumerate(files["places"], start=1):
        folder = place["folder"] or "a folder of yours, given in place of the name, or the hub cache"
        out.print(f"  {number}. {folder} ({_LAYOUTS[place['layout']]})", markup=False)
        for need in place["needs"]:
            forms = ", or ".join(" with ".join(form) for form in need["any_of"])
            there = f"there: {', '.join(Path(path).name for path in need['found'])}" if need["found"] else forms
            out.print(f"       {need['purpose']:<{_ASIDE}}{there}", markup=False)
    if files["fetch"]:
        out.print("On a machine with network, one of these fetches it:", style="bold", markup=False)
    for command in files["fetch"]:
        out.print(f"  {command}", markup=False)
    if files["fetch"]:
        out.print(_CARRY, markup=False)


_LAYOUTS = {
    "hugging_face": "Hugging Face's layout",
    "open_clip": "open_clip's layout",
    "openai": "OpenAI's archive",
    "transformers": "transformers' files",
}
_CARRY = """\
Carry the folder over and give it in place of the name (transformers:FOLDER where transformers runs it), or carry the
package's cache: ~/.cache/huggingface/hub of the hub ($HF_HUB_CACHE), ~/.cache/clip of OpenAI's."""
