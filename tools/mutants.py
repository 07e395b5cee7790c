"""How many small faults in a room its tests see: mutants drawn at random, each tried on the tests that run its line.

A mutant is one operator, comparison, constant or condition that says something else. Killed means that a test fails, or
runs far longer than it should. Lines that no test of the room runs survive without a try. What a fixture of several
tests runs is run by all of them, whichever came first.

    pip install coverage
    python tools/mutants.py metrics tests/metrics --count 50 --seed 0
"""

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
SWAPS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
IN_CHILD = "OPENWORLD_MUTANT_TIMES"  # where the plug-in below writes which test ran which lines


def sites(path: Path) -> list[tuple[int, int, str]]:
    """Return (line, number of the node, what is changed) of every possible mutant of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {id(inner) for node in ast.walk(tree) for part in _silent_parts(node) for inner in ast.walk(part)}
    found = []
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in skipped:
            continue
        before, after = ast.unparse(node)[:60], changed(node)
        if after:
            found.append((node.lineno, number, f"{before} -> {after}"))
    return found


def _silent_parts(node: ast.AST) -> list[ast.AST]:
    """Parts whose mutants show nothing: annotations, messages of errors, names of exports."""
    parts = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    if isinstance(node, ast.Raise | ast.JoinedStr):
        parts.append(node)
    return [part for part in parts if isinstance(part, ast.AST)]


def changed(node: ast.AST) -> str:
    """Change a node in place and return its new text, or "" where there is nothing to change."""
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS:
        if isinstance(node, ast.BinOp) and any(isinstance(side, ast.Constant | ast.JoinedStr) and
                                               isinstance(getattr(side, "value", ""), str)
                                               for side in (node.left, node.right)):  # fmt: skip
            return ""
        node.op = SWAPS[type(node.op)]()
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
    elif isinstance(node, ast.If | ast.IfExp):
        node.test = ast.UnaryOp(ast.Not(), node.test)
        return ast.unparse(node.test)[:60]
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        node.value = node.value + 1
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        node.value = not node.value
    else:
        return ""
    return ast.unparse(node)[:60]


def mutated(text: str, number: int) -> str:
    tree = ast.parse(text)
    node = next(each for place, each in enumerate(ast.walk(tree)) if place == number)
    changed(node)
    return ast.unparse(ast.fix_missing_locations(tree))


def measure(copy: Path, room: str, tests: list[str]) -> tuple[dict, dict[str, float]]:
    """Run all tests once: return file -> line -> tests, and the seconds of every test, shared fixtures included."""
    facts = copy / "mutants.json"
    environment = os.environ | {
        "PYTHONPATH": f"{copy / 'src'}:{copy / 'tools'}",
        IN_CHILD: str(facts),
        "MUTANTS_ROOM": room,
    }
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "mutants", *tests]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout[-3000:] + done.stderr[-2000:])
    read = json.loads(facts.read_text())
    return read["lines"], read["seconds"]


if IN_CHILD in os.environ:  # as a plug-in of pytest
    import coverage
    import pytest

    _seconds: dict[str, float] = {}
    _users: dict[str, list[str]] = {}  # the name of a shared fixture -> tests that need it
    _contexts = [""]
    _traced = coverage.Coverage(
        data_file=None, source=[str(Path.cwd() / "src/openworld" / os.environ["MUTANTS_ROOM"])], config_file=False
    )
    _traced.start()

    @contextmanager
    def _context(name: str):
        _contexts.append(name)
        _traced.switch_context(name)
        try:
            yield
        finally:
            _contexts.pop()
            _traced.switch_context(_contexts[-1])

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(item):
        for name in item.fixturenames:
            _users.setdefault(f"fixture {name}", []).append(item.nodeid)
        began = time.perf_counter()
        try:
            with _context(item.nodeid):
                return (yield)
        finally:
            _seconds[item.nodeid] = time.perf_counter() - began

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(fixturedef):
        if fixturedef.scope == "function":
            return (yield)
        with _context(f"fixture {fixturedef.argname}"):
            return (yield)

    def pytest_sessionfinish():
        _traced.stop()
        data = _traced.get_data()
        files = {str(Path(file).relative_to(Path.cwd())): file for file in data.measured_files()}
        lines = {
            name: {
                line: sorted({test for each in contexts for test in _users.get(each, [each.partition("fixture ")[0]])})
                for line, contexts in data.contexts_by_lineno(file).items()
            }
            for name, file in files.items()
        }
        Path(os.environ[IN_CHILD]).write_text(json.dumps({"lines": lines, "seconds": _seconds}))


def statement_lines(path: Path) -> dict[int, int]:
    """Return for every line the first line of the innermost statement that it belongs to."""
    first = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.stmt):
            for line in range(node.lineno, node.end_lineno + 1):
                first[line] = max(first.get(line, 0), node.lineno)
    return first


def run_tests(copy: Path, tests: list[str], limit: float) -> str:
    """Return "" where all tests pass, else which failed; in a fork of this process, which has the libraries loaded."""
    listed = copy / "mutant-tests.txt"
    listed.write_text("\n".join(tests))
    told = copy / "mutant-told.txt"
    child = os.fork()
    if not child:
        code = 3
        try:
            with open(told, "w") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
            os.setsid()
            os.chdir(copy)
            os.environ["PYTHONPATH"] = str(copy / "src")
            sys.path.insert(0, str(copy / "src"))
            import pytest

            code = pytest.main(["-x", "-q", "-n", "0", "-p", "no:cacheprovider", f"@{listed}"])
        except BaseException as error:
            print(f"ERROR {type(error).__name__}: {error}")
        finally:  # never back into this process's own work
            sys.stdout.flush()
            os._exit(code)
    ends = time.monotonic() + limit
    while time.monotonic() < ends:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            if code == 0:
                return ""
            lines = [
                line for line in told.read_text(errors="replace").splitlines() if line.startswith(("FAILED", "ERROR"))
            ]
            return (lines or [f"exit {code}"])[0][:160]
        time.sleep(0.05)
    os.killpg(child, 9)
    os.waitpid(child, 0)
    return f"over {limit:.0f} s"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("room", help="a folder of src/openworld")
    arguments.add_argument("tests", nargs="+", help="folders or files of tests")
    arguments.add_argument("--count", type=int, default=50)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--survivors", type=Path, help="write those that no test killed to this file")
    arguments.add_argument("--retry", type=Path, help="try those of such a file, as with other tests of the same code")
    asked = arguments.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        listed = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
        for name in listed.split():
            if (REPOSITORY / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(REPOSITORY / name, copy / name)
        began = time.monotonic()
        lines, seconds = measure(copy, asked.room, asked.tests)
        print(f"{len(seconds)} tests of {sum(seconds.values()):.0f} s, run once in {time.monotonic() - began:.0f} s")

        paths = sorted((copy / "src/openworld" / asked.room).rglob("*.py"))
        every = [(path, *site) for path in paths for site in sites(path)]
        drawn = random.Random(asked.seed).sample(every, min(asked.count, len(every)))
        if asked.retry:
            wanted = {tuple(each) for each in json.loads(asked.retry.read_text())}
            drawn = [each for each in every if (each[0].relative_to(copy).as_posix(), each[2]) in wanted]
        for heavy in ("numpy", "scipy.stats", "torch", "pyarrow.parquet", "PIL.Image", "pytest"):
            __import__(heavy)
        quick = sorted(seconds, key=seconds.get)[:20]
        if failed := run_tests(copy, quick, 100):
            sys.exit(f"tests fail where nothing is changed: {failed}")
        fates, survivors = defaultdict(int), []
        for turn, (path, line, number, change) in enumerate(sorted(drawn)):
            name = path.relative_to(copy).as_posix()
            ran = lines.get(name, {})
            tests = ran.get(str(statement_lines(path).get(line, line)), [])
            if "" in tests:  # on importing
                tests = {test for each in ran.values() for test in each}
            tests = sorted({test for test in tests if test}, key=lambda test: seconds.get(test, 9.0))
            text = path.read_text(encoding="utf-8")
            failed = ""
            if tests:
                path.write_text(mutated(text, number), encoding="utf-8")
                os.utime(path, (turn, 2 * turn + 1))  # compiled files are told apart by whole seconds
                limit = 30 + 4 * sum(seconds.get(test, 9.0) for test in tests)
                failed = run_tests(copy, tests, limit)
                path.write_text(text, encoding="utf-8")
                os.utime(path, (turn, 2 * turn + 2))
            fate = "killed" if failed else "survived" if tests else "no test"
            fates[fate] += 1
            if not failed:
                survivors.append((name, number))
            print(f"{fate:9} {name}:{line}  {change}  {failed}", flush=True)
        if asked.survivors:
            asked.survivors.write_text(json.dumps(survivors))
        print(f"{asked.room}: {fates['killed']} of {len(drawn)} killed ({fates['no test']} on lines that no test runs)")


if __name__ == "__main__":
    main()
