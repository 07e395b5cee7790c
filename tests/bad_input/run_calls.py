"""Settings and functions of `openworld.runs`."""

from generated import generated
from judging import new_folder

import openworld as ow
from openworld import runs
from openworld.classifiers import Recipe
from openworld.runs import RunStore, Unit, UnitResult

FOLDER = new_folder()

PREDICTIONS = {"side": ["base", "base", "new"], "score": [0.9, 0.2, 0.4], "correct": [1, 1, 1]}
RECORD = next((ow.score(PREDICTIONS, FOLDER / "scored").folder / "units").iterdir())

CALLS = {
    "RunStore": generated(RunStore, {"folder": FOLDER}, free=("folder",)),
    "Unit": generated(
        Unit,
        {"function": "math:sqrt", "arguments": {"x": 2}, "inputs": {"weights": "0"}, "resources": {"cache": "c"}}
        | {"effort": (1.0, 2.0)},
        free=("name",),
    ),
    "UnitResult": generated(UnitResult),
    "execute": generated(
        runs.execute, {"units": [], "store": RunStore(FOLDER / "run"), "devices": ("cpu",)}, free=("devices",)
    ),
    "git_revision": generated(runs.git_revision, {"folder": FOLDER}, free=("folder",)),
    "installed_version": generated(runs.installed_version, {"package": "numpy"}, free=("package",)),
    "load_record": generated(runs.load_record, {"folder": RECORD}),
    "provenance": generated(runs.provenance, {"folder": FOLDER, "command": ["openworld"]}, free=("folder",)),
    "read_given": generated(runs.read_given, {"source": {"epochs": 3}}),
    "read_spec": generated(runs.read_spec, {"source": {"epochs": 3}, "schema": Recipe}),
}
RESULTS = frozenset({"Event", "Record"})
"""Classes that functions return; nobody makes them by hand."""
ELSEWHERE = dict.fromkeys(
    ("canonical_json", "digest", "readable_json", "to_json"), "anything JSON can hold, in tests/runs/test_canonical.py"
)
