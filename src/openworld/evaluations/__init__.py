"""The papers' evaluations, one folder each, and what they share.

The folder of an evaluation has a module `evaluation`, whose `EVALUATION` names its parts (see `Evaluation`), and a
module `report`, which makes tables and pages of its records. An evaluation of another package is such an object under
the entry point group "openworld.evaluations".

All of it is imported when it is first asked for: naming an evaluation needs no torch.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openworld.core.errors import unknown_name
from openworld.core.plugins import Plugins
from openworld.runs.unit_names import EVALUATIONS, folder_of

if TYPE_CHECKING:
    from openworld.evaluations.evaluation import Evaluation

_SPECS = {spec: name for name, spec in EVALUATIONS.items()}

__all__ = (
    "EVALUATIONS",
    "evaluation_of",
    "find_evaluation",
    "read_protocol",
    "report_of",
    *_SPECS,
)


def __getattr__(name: str):
    if name in _SPECS:
        return _ours(_SPECS[name]).spec
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def find_evaluation(name: str) -> "Evaluation":
    """Return an evaluation: one of `EVALUATIONS`, or a plug-in.

    Raises:
        OpenworldError: an unknown name (lists the known ones and the nearest spelling), or a plug-in that cannot be
            loaded.
    """
    if name in EVALUATIONS:
        return _ours(name)
    if name not in PLUGINS.offered():
        raise unknown_name("protocol", name, [*EVALUATIONS, *PLUGINS.offered()])
    return PLUGINS.find(name)


def evaluation_of(spec: Any) -> "Evaluation":
    return find_evaluation(spec.protocol)


def report_of(name: str) -> str:
    """Return the module that makes tables and pages of an evaluation's records, "" where there is none.

    Of ours none is imported for it, so that what needs records alone needs no torch.
    """
    return f"{folder_of(name)}.report" if name in EVALUATIONS else find_evaluation(name).report


def function_of(name: str) -> str:
    """Return how units name the function of an evaluation: by its name, or where a plug-in says that it lies."""
    return name if name in EVALUATIONS else PLUGINS.offered()[name][0].value


def read_protocol(source: Path | str | Mapping[str, Any]) -> Any:
    """Return the checked spec of a file or mapping, of the evaluation that its key `protocol` names; recognition
    without one.

    Raises:
        OpenworldError: an unknown protocol, and what `read_spec` raises.
    """
    from openworld.runs import read_given, read_spec

    return read_spec(source, find_evaluation(str(read_given(source).get("protocol", "recognition"))).spec)


def _ours(name: str) -> "Evaluation":
    return import_module(f"{folder_of(name)}.evaluation").EVALUATION


PARTS = ("name", "spec", "tasks", "evaluate", "units", "artifacts", "report")
PLUGINS = Plugins("evaluation", PARTS, lambda: {name: _ours(name) for name in EVALUATIONS}, of=object)
