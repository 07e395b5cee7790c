"""Named runs, from `presets.toml` beside this file: what `openworld demo` does."""

import tomllib
from importlib.resources import files

from openworld.core.errors import unknown_name
from openworld.evaluations.recognition.spec import RecognitionSpec
from openworld.runs import read_spec

_FILE = files("openworld.evaluations.recognition").joinpath("presets.toml").read_text(encoding="utf-8")
PRESETS = {name: read_spec(spec, RecognitionSpec) for name, spec in tomllib.loads(_FILE).items()}
PUBLISHED = PRESETS["published"]


def preset(name: str) -> RecognitionSpec:
    """Return a named run."""
    if name not in PRESETS:
        raise unknown_name("preset", name, PRESETS)
    return PRESETS[name]
