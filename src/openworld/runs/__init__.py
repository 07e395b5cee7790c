"""Frozen specs, units, records, the store of a run, and engines: pure machinery, never heard of images.

spec = read_spec("spec.toml", Schema)                       checked, every default filled in
store = RunStore("my-run")
store.create(given, spec, provenance())
records = execute(units_of(spec), store, workers=2)         resumes what is there
"""

from typing import TYPE_CHECKING

from openworld.core.lazy import lazily
from openworld.runs.provenance import git_revision, installed_version, provenance

if TYPE_CHECKING:
    from openworld.runs.board import Event
    from openworld.runs.canonical import canonical_json, digest, readable_json, to_json
    from openworld.runs.engine import ENGINES, execute
    from openworld.runs.record import Record, load_record
    from openworld.runs.spec import read_given, read_spec
    from openworld.runs.store import RunStore
    from openworld.runs.unit import Unit, UnitResult

__getattr__, __dir__ = lazily(__name__, __file__)

__all__ = [
    "ENGINES",
    "Event",
    "Record",
    "RunStore",
    "Unit",
    "UnitResult",
    "canonical_json",
    "digest",
    "execute",
    "git_revision",
    "installed_version",
    "load_record",
    "provenance",
    "read_given",
    "read_spec",
    "readable_json",
    "to_json",
]
