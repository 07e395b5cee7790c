"""Every command that writes, stopped at every change of a file, and called again.

    python tests/cli/crash_points.py [--stops N] [--kinds kill,term] [COMMAND ...]      all points, all kinds

A point is a file opened for writing, a rename, a removal, a new folder, a truncation or an fsync in the folder of the
command (or of its temporary files). At the k-th a process is killed ("kill"), killed with half of the file written
("torn", at an fsync), terminated ("term"), or finds the disk full from there on ("full") or one fault of it ("EIO").
The children are forked from a process that has imported everything and started no thread.
"""

import argparse
import errno
import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

KINDS = ("kill", "torn", "term", "full", "EIO")
TIMED = ("times.parquet", "timing.json")
VARYING = ("run", "reproduce", "score")
"""Commands whose page tells how long something took."""

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Points:
    """Counts the points of this process from now on, and does at the `fatal` one what `kind` says."""

    def __init__(self, root: Path, kind: str = "", fatal: int = 0):
        self.root, self.kind, self.fatal, self.count, self.busy = f"{root}{os.sep}", kind, fatal, 0, False
        self.synced: list[int] = []
        sys.addaudithook(self._hear)
        self._fsync, os.fsync = os.fsync, self._synced

    def _hear(self, event: str, arguments: tuple) -> None:
        if self.busy or not self.root:
            return
        if event == "open":
            path, _, flags = arguments
            if isinstance(path, int) or not flags & _WRITING:
                return
        elif event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"):
            path = arguments[0]
        else:
            return
        if isinstance(path, int) or f"{os.path.abspath(os.fsdecode(path))}{os.sep}".startswith(self.root):
            self._reach(removing=event in ("os.remove", "os.rmdir", "os.rename"))

    def _synced(self, descriptor: int) -> None:
        self._reach(descriptor=descriptor)
        self._fsync(descriptor)

    def _reach(self, descriptor: int | None = None, removing: bool = False) -> None:
        self.count += 1
        if descriptor is not None:
            self.synced.append(self.count)
        if self.kind == "full" and self.fatal <= self.count and not removing:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self.count != self.fatal:
            return
        self.busy = True
        if self.kind == "EIO":
            self.busy = False
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        if self.kind == "torn" and descriptor is not None:
            size = os.fstat(descriptor).st_size
            if not os.path.isdir(f"/proc/self/fd/{descriptor}"):
                os.ftruncate(descriptor, size // 2)
        if self.kind in ("kill", "torn"):
            os.kill(os.getpid(), signal.SIGKILL)
        if self.kind == "term":
            os.kill(os.getpid(), signal.SIGTERM)
        self.busy = False


def call(root: Path, arguments, kind: str = "", fatal: int = 0) -> dict:
    """Run a command in a forked child; return its exit code (-9 if killed), its points, and what it printed."""
    noise = root.with_name("noise")
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        os.chdir(root)
        os.environ["TMPDIR"] = tempfile.tempdir = str(root / "tmp")
        os.environ |= {"OPENWORLD_CACHE": str(root / "cache"), "COLUMNS": "160", "NO_COLOR": "1"}
        out = os.open(noise, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        sys.argv = ["openworld", *arguments]
        points, code = Points(root, kind, fatal), 0
        from openworld.cli import main

        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        except BaseException as error:
            print(f"Traceback: {error!r}")
            code = 99
        points.root = ""
        sys.stdout.flush()
        sys.stderr.flush()
        found = f"{points.count} {','.join(map(str, points.synced))};{' '.join(sys.modules)}"
        while found:
            found = found[os.write(writer, found.encode()) :]
        os._exit(code if isinstance(code, int) else 1)
    os.close(writer)
    with open(reader, encoding="utf-8") as pipe:
        counts, _, modules = pipe.read().partition(";")
    count, _, synced = counts.partition(" ")
    status = os.waitpid(child, 0)[1]
    code = os.waitstatus_to_exitcode(status)
    return {
        "code": code,
        "points": int(count or 0),
        "synced": [int(point) for point in synced.split(",") if point],
        "modules": modules.split(),
        "said": noise.read_text(errors="replace"),
    }


def contents(root: Path) -> dict[str, bytes]:
    """{path: bytes} of every file that must be the same, and of every folder; locks stay where they are."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_dir():
            found[name + "/"] = b""
        elif path.suffix != ".lock" and path.name not in (*TIMED, ".lock", "in-use"):
            found[name] = path.read_bytes()
    return {name: data for name, data in found.items() if ".locks" not in name and not name.endswith(".writing/")}


class Crashes:
    """All points of one command.

    world: a prepared folder, which stays as it is. place: of the copies.
    """

    def __init__(self, world: Path, place: Path, name: str, arguments):
        self.world, self.root, self.name, self.arguments = world, place / "work", name, arguments
        self.fresh()
        first = call(self.root, arguments)
        for module in first["modules"]:  # so that children import nothing
            if module.partition(".")[0] not in ("__main__", "pytest", "sitecustomize"):
                with suppress(Exception):  # an optional part
                    importlib.import_module(module)
        self.fresh()
        self.before = contents(self.root)
        first = call(self.root, arguments)
        assert "Traceback" not in first["said"] and first["code"] in (0, 3, 4), (name, first["said"])
        self.points, self.synced, self.code = first["points"], first["synced"], first["code"]
        self.after = contents(self.root)
        self.again = call(self.root, arguments)
        self.twice = contents(self.root)

    def fresh(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.world, self.root)
        (self.root / "tmp").mkdir(exist_ok=True)

    def stops(self, kinds, number: int, first: int):
        """Yield (kind, point): every one, or so many at even distances, of the kinds in turn from the `first` on."""
        if not number:
            yield from ((kind, point) for kind in kinds for point in range(1, self.points + 1))
        for place in range(number):
            kind = kinds[(first + place) % len(kinds)]
            points = self.synced if kind == "torn" and self.synced else range(1, self.points + 1)
            yield kind, points[(2 * place + 1) * len(points) // (2 * number)]

    def at(self, kind: str, point: int) -> list[str]:
        """What is wrong after a stop at a point and a second call; nothing where all is well."""
        self.fresh()
        stopped = call(self.root, self.arguments, kind, point)
        wrong = []
        left = contents(self.root)
        if kind not in ("kill", "torn"):
            if "Traceback" in stopped["said"]:
                wrong.append(f"traceback: {stopped['said'].strip().splitlines()[-1][:160]}")
            expected = (143,) if kind == "term" else (1, 2)
            if stopped["code"] not in (*expected, self.code):
                wrong.append(f"exit code {stopped['code']}: {stopped['said'].strip()[-160:]}")
            wrong += [f"leftover at once: {name}" for name in left if self._is_scratch(name)]
        second = call(self.root, self.arguments)
        found = contents(self.root)
        if second["code"] not in (self.code, self.again["code"]):
            wrong.append(f"second call: exit code {second['code']}: {second['said'].strip()[-200:]}")
        for name in sorted(found.keys() | self.after.keys()):
            is_page = os.path.basename(name) == "report.html" and self.name in VARYING
            if is_page and name in found and name in self.after:
                continue
            if name in found and name not in self.after and name not in self.twice:
                wrong.append(f"leftover: {name}")
            elif found.get(name) not in (self.after.get(name), self.twice.get(name)):
                wrong.append(f"half: {name}")
        return wrong

    def _is_scratch(self, name: str) -> bool:
        return name.endswith((".writing", ".part")) or (name.startswith("tmp/") and name not in self.after)


def faults_of(world: Path, top: Path, names, kinds, stops: int) -> int:
    """Stop every command `stops` times, or 0 for at every point; print what went wrong, and return how often."""
    from every_output import COMMANDS

    faults = 0
    for number, name in enumerate(names):
        crashes = Crashes(world, top, name, COMMANDS[name])
        stopped = list(crashes.stops(kinds, stops, number))
        for kind, point in stopped:
            for wrong in crashes.at(kind, point):
                print(f"  {name}, {kind} at {point} of {crashes.points}: {wrong}")
                faults += 1
        print(f"{name} | {len(stopped)} of {crashes.points} points")
    return faults


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    from every_output import COMMANDS

    reading = argparse.ArgumentParser()
    reading.add_argument("commands", nargs="*", default=list(COMMANDS))
    reading.add_argument("--stops", type=int, default=0)
    reading.add_argument("--kinds", default=",".join(KINDS))
    reading.add_argument("--place", default="")
    given = reading.parse_args()
    top = Path(given.place or tempfile.mkdtemp(prefix="crash-points-"))
    where = top / "world"
    if not where.exists():  # made by another process, so that no thread is started here
        where.mkdir(parents=True)
        code = f"import sys, pathlib; sys.path.insert(0, {str(Path(__file__).parent)!r}); "
        code += f"import every_output; every_output.prepare(pathlib.Path({str(where)!r}))"
        subprocess.run([sys.executable, "-c", code], check=True)
    sys.exit(bool(faults_of(where, top, given.commands, given.kinds.split(","), given.stops)))
