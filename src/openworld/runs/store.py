"""The folder of a run: what was asked, which units it has, and the record of every finished one.

    run.json                        the spec as given and as resolved, what ran it (provenance), the shorter specs that
                                    it had before (history), and a seal on these
    plan.json                       key and name of every unit, in order
    units/<16 digits of key>/       one record: record.json, <table>.parquet, attachments/, timing.json
    .locks, .writing                locks and half-written records; of no interest after the run

A run is resumed by starting it again: a unit counts as done when its record verifies. Started with a spec whose lists
(GROWING) have more entries and that is the same otherwise, it takes that spec, and what is new is computed. Several
processes may work in one folder; a lock per unit, released by the kernel when its holder dies, keeps them apart.

Seals and digests, here and in records, tell of damage and of edits by hand. There is no secret in them: whoever
computes them anew can forge a run, so that a folder is as trustworthy as those who could write to it. Files that a
run does not know, in its folder or in that of a unit, are left alone and never read.
"""

import os
import re
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import parse_json, read_plain
from openworld.core.types import checked
from openworld.runs.atomic import remove, write_file, write_folder
from openworld.runs.canonical import canonical_json, readable_json, to_json
from openworld.runs.lock import file_lock
from openworld.runs.outputs import RUN, require_folder
from openworld.runs.record import Record, load_record, pack, renamed
from openworld.runs.sealed import SEAL, seal, without_seal
from openworld.runs.unit import Unit, UnitResult

NO_RECORD = "this unit has no record yet."
LOCKS = ".locks"  # folder, beside those of what is kept
GROWING = ("learners", "seeds", "models", "estimators", "detectors", "datasets")
"""The lists of a spec to which a run takes further entries."""

_SHORT = 16  # hexadecimal digits of a key that name its folder
_KEY = re.compile("[0-9a-f]{64}")


@checked
class RunStore:
    """The run in `folder`, which need not exist yet. One RunStore belongs to one thread."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self._units = self.folder / "units"
        self._writing = self.folder / ".writing"
        self._locks = self.folder / LOCKS
        self._held: set[str] = set()

    # -- the run ------------------------------------------------------------------------------------

    def create(
        self,
        given: Any,
        resolved: Any,
        provenance: Mapping[str, Any],
        units: Sequence[Unit] = (),
        beside: Sequence[str] = (),
    ) -> tuple[str, ...]:
        """Write run.json, or join the run that is there; return what that takes on in its lists, in words.

        given, resolved: the spec as the user wrote it and with every default filled in (JSON or dataclasses).
        provenance: what runs it (see `provenance`); one that is new to this run is added to its list.
        units: of the spec; planned first where the run takes more, so that it is never taken for finished without them.
        beside: what the folder may hold beside the run, of `outputs.MARKS`.
        Raises OpenworldError when the folder holds a run of another resolved spec, saying what differs.
        """
        resolved, provenance = to_json(resolved, "spec"), to_json(provenance, "provenance")
        require_folder("--out", self.folder, own=(RUN, *beside))
        with self._lock("run"):
            run = self._load_run() or {"given": to_json(given, "spec"), "resolved": resolved, "provenance": []}
            changes = list(_changes(run["resolved"], resolved, ""))
            differences = [words for words, grown in changes if not grown]
            if differences:
                raise OpenworldError(
                    f"{self.folder} holds a run of another spec: {'; '.join(differences[:5])}. "
                    f"Choose another folder, or delete this one. (A run takes further {', '.join(GROWING)}.)"
                )
            before, added = run["resolved"], tuple(words for words, grown in changes if grown)
            if canonical_json(before) != canonical_json(resolved):
                self.plan(units)
                former = {"given": run["given"], "resolved": before}
                run |= {"given": to_json(given, "spec"), "resolved": resolved}
                run["history"] = [*run.get("history", ()), former]
            if provenance not in run["provenance"]:
                run["provenance"].append(provenance)
            elif run["resolved"] is before:
                return added
            write_file(self.folder / "run.json", seal(run))
            return added

    def description(self) -> dict[str, Any]:
        """{"given", "resolved", "provenance": [...]} of run.json, and "history" where the run took more."""
        run = self._load_run()
        if run is None:
            below = sorted(path.parent.name for path in self.folder.glob("*/run.json"))
            instead = f" one of the folders in it: {', '.join(below[:5])}" if below else " the folder of a run"
            raise OpenworldError(f"{self.folder} holds no run: it has no run.json. Give{instead}.")
        return run

    def plan(self, units: Sequence[Unit]) -> None:
        """Add units to plan.json. A name stands for one unit: a new key under a known name takes its place.

        Units that include all that are known decide the order.
        """
        for name, count in Counter(unit.name for unit in dict.fromkeys(units)).items():
            if count > 1:
                raise OpenworldError(f"{count} units are named {name!r}; a name stands for one unit of a run.")
        with self._lock("run"):
            planned = self.planned()
            before, wanted = {entry["name"]: entry["key"] for entry in planned}, {unit.name: unit.key for unit in units}
            wanted = wanted if before.keys() <= wanted.keys() else before | wanted
            entries = [{"name": name, "key": key} for name, key in wanted.items()]
            if entries != planned:
                write_file(self.folder / "plan.json", readable_json(entries))

    def planned(self) -> list[dict[str, str]]:
        """[{"name", "key"}] of every unit of the run, in order."""
        entries = self._load("plan.json")
        if entries is None:
            return []
        if not isinstance(entries, list) or not all(map(_is_entry, entries)):
            raise self._damaged("plan.json", "expected a list of units, each with its name and its key")
        return entries

    def records(self, *, partial: bool = False) -> list[Record]:
        """The records of all planned units, in order; one missing or damaged raises, or is left out where partial."""
        records, missing = [], []
        for entry in self.planned():
            try:
                records.append(self._load_unit(entry["key"]))
            except OpenworldError:
                missing.append(entry["name"])
        if missing and not partial:
            raise OpenworldError(
                f"{len(missing)} of {len(records) + len(missing)} units of {self.folder} are not done, "
                f"first {missing[0]!r}; start the run again to finish it."
            )
        return records

    def damaged(self) -> dict[str, str]:
        """{name: what is wrong} of the planned units whose record is there, but not as it was written."""
        errors = {}
        for entry in self.planned():
            try:
                self._load_unit(entry["key"])
            except OpenworldError as error:
                if str(error) != NO_RECORD:
                    errors[entry["name"]] = str(error)
        return errors

    # -- one unit -----------------------------------------------------------------------------------

    def has(self, unit: Unit) -> bool:
        """Whether the unit is done: its record is there and every file of it is as written."""
        return self.problem(unit) is None

    def shows(self, unit: Unit) -> bool:
        """Whether there is a record of the unit, written on this machine or another; nothing of it is checked."""
        if self._folder(unit.key).exists():
            return True
        with suppress(FileNotFoundError):
            os.listdir(self._units)  # so that a network file system looks again, and forgets that there was none
        return self._folder(unit.key).exists()

    def problem(self, unit: Unit) -> str | None:
        """Why the unit does not count as done: NO_RECORD, or what is wrong with its record; None when done."""
        try:
            self.read(unit)
        except OpenworldError as error:
            return str(error)
        return None

    def read(self, unit: Unit) -> Record:
        """The verified record of a unit; raises OpenworldError where there is none, or a damaged one."""
        return self._load_unit(unit.key)

    def write(self, unit: Unit, result: UnitResult, timing: Mapping[str, Any] | None = None) -> Record:
        """Put the record of a unit in place in one step; `timing` is what varies. The first good record stands."""
        files = pack(unit, result)
        files["timing.json"] = readable_json({**(timing or {}), **result.timing}, "timing")
        with self.claim(unit):
            if not self.has(unit):
                self._put(unit, files)
        return self.read(unit)

    def take_over(self, unit: Unit, others: Iterable["RunStore"]) -> bool:
        """Copy the record of a unit from another run that has it: a key stands for the same bytes in every run.

        The copy bears the unit's name, which may say before the record's own on which data set it is.
        Returns whether a record was copied: not where this run has one, nor while another process has the unit in hand.
        """
        there = [run for run in others if run._folder(unit.key).is_dir()]
        if not there:  # mostly so, and a lock costs more than a look
            return False
        with self.claim(unit, wait=False) as held:
            for run in there if held and not self.has(unit) else ():
                if not run.has(unit):
                    continue
                record = run.read(unit)
                if record.name == unit.name or unit.name.endswith(f", {record.name}"):
                    paths = [path for path in record.folder.rglob("*") if path.is_file()]
                    files = {path.relative_to(record.folder).as_posix(): path.read_bytes() for path in paths}
                    self._put(unit, files | {"record.json": renamed(record, unit.name)})
                    return True
        return False

    def claim(self, unit: Unit, *, wait: bool = True) -> AbstractContextManager[bool]:
        """Hold the unit's lock within a `with` block; with wait=False it gives False where another holds it."""
        return self._lock(unit.key[:_SHORT], wait=wait)

    def sweep(self) -> None:
        """Remove what writers that died left half-written; what a living one is writing stays."""
        for path in self._writing.glob("*"):
            with self._lock(path.name[:_SHORT], wait=False) as held:
                if held:
                    remove(path)
        with self._lock("run", wait=False) as held:
            for path in self.folder.glob(".*.writing") if held else ():
                remove(path)

    # -- inside -------------------------------------------------------------------------------------

    def _folder(self, key: str) -> Path:
        return self._units / key[:_SHORT]

    def _put(self, unit: Unit, files: Mapping[str, bytes]) -> None:
        for folder in (self._units, self._writing):
            folder.mkdir(parents=True, exist_ok=True)
        write_folder(self._folder(unit.key), files, self._writing / unit.key[:_SHORT])

    def _load_unit(self, key: str) -> Record:
        if not self._folder(key).exists():
            raise OpenworldError(NO_RECORD)
        record = load_record(self._folder(key))
        if record.unit.key != key:
            raise OpenworldError(f"{record.folder} holds the record of another unit, {record.name!r}.")
        return record

    @contextmanager
    def _lock(self, name: str, *, wait: bool = True) -> Generator[bool]:
        if name in self._held:  # ours already: an engine claims a unit, then writes it
            yield True
            return
        with file_lock(self._locks / f"{name}.lock", wait=wait) as held:
            if held:
                self._held.add(name)
            try:
                yield held
            finally:
                self._held.discard(name)

    def _load_run(self) -> dict[str, Any] | None:
        run = self._load("run.json")
        if run is None:
            return None
        kinds = {"given": object, "resolved": object, "provenance": list}
        whole = isinstance(run, dict) and all(key in run and isinstance(run[key], kind) for key, kind in kinds.items())
        if not whole or run.keys() - kinds.keys() - {"history", SEAL}:
            raise self._damaged("run.json", f"expected a table of {', '.join(kinds)}")
        try:
            return without_seal(run)
        except ValueError as error:
            raise self._damaged("run.json", str(error)) from error

    def _load(self, name: str) -> Any:
        """What a file of the run holds; None where there is no such file."""
        try:
            content = parse_json(read_plain(self.folder / name))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ValueError as error:
            raise self._damaged(name, str(error)) from error
        if content is None:
            raise self._damaged(name, "it says nothing")
        return content

    def _damaged(self, name: str, reason: str) -> OpenworldError:
        return OpenworldError(
            f"{self.folder / name} is damaged ({reason}). Delete it and start the run again; finished units are kept."
        )


def _is_entry(entry: Any) -> bool:
    """Whether an entry of plan.json names a unit, and a key that leads nowhere but to a folder of `units`."""
    if not isinstance(entry, dict):
        return False
    name, key = entry.get("name"), entry.get("key")
    return isinstance(name, str) and isinstance(key, str) and _KEY.fullmatch(key) is not None


def _changes(there: Any, here: Any, path: str) -> Generator[tuple[str, bool]]:
    """Yield where two JSON values part, in words, and whether that is a growing list which takes further entries."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in sorted(there.keys() | here.keys()):
            yield from _changes(there.get(key, "(absent)"), here.get(key, "(absent)"), f"{path}.{key}".lstrip("."))
    elif isinstance(there, list) and isinstance(here, list) and path.rpartition(".")[2] in GROWING:
        # Of entries of one title, the first.
        before, among = ({_title(entry): entry for entry in reversed(entries)} for entries in (there, here))
        added = [title for title in map(_title, here) if title not in before]
        if added:
            yield f"{path} {', '.join(added)}", True
        for entry in there:
            title = _title(entry)
            if title in among:
                yield from _changes(entry, among[title], f"{path}[{title}]")
            else:
                yield f"{path} lacks {title}, which is there", False
    elif canonical_json(there) != canonical_json(here):  # 1 and 1.0 and True are three things here
        yield f"{path or 'spec'} is {there!r} there and {here!r} here", False


def _title(entry: Any) -> str:
    """What people call an entry of a list: its label, or all of it."""
    return str(entry["label"]) if isinstance(entry, dict) and entry.get("label") else canonical_json(entry)
