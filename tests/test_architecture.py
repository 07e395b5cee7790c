"""The house: imports go down only, rooms on the ground floor do not know one another, `import openworld` is light."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections import Counter
from functools import cache

FLOORS = (
    {"core"},
    {"tables"},
    {"metrics", "backbones", "datasets", "runs"},
    {"features", "estimators", "labels", "results"},
    {"report", "papers"},
    {"learners", "classifiers", "detectors", "shifts"},
    {"evaluations"},
    {"own_data"},
    {"ood", "label_free"},
    {"reproduction"},
    {"api"},
    {"cli"},
    {"testing"},
)
FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
STILL = {}
"""File -> rooms on its own floor or above that it still imports: to become empty."""
SLICES_STILL = {
    ("generalisation", "recognition"),
}
"""(slice or shared file, slice) of evaluations that still know one another: to become empty."""


@cache
def nodes(path):
    """The imports, calls and classes of a file, which is parsed once for all tests."""
    kinds = ast.Import | ast.ImportFrom | ast.Call | ast.ClassDef
    return [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, kinds)]


def imported(path):
    """The dotted names of the modules that a file imports, anywhere in it."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "openworld":
            yield from (f"openworld.{name.name}" for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def imported_rooms(path):
    """The rooms of ours that a file imports, anywhere in it."""
    return [name.split(".")[1] for name in imported(path) if name.startswith("openworld.")]


def rooms(repository):
    folders = (path for path in (repository / "src" / "openworld").iterdir() if path.is_dir())
    return sorted(path for path in folders if path.name[0] != "_")


def test_every_room_has_its_floor(repository):
    assert {path.name for path in rooms(repository)} == set(FLOOR_OF)


def test_imports_go_down_only(repository):
    for room in rooms(repository):
        for path in room.rglob("*.py"):
            for other in imported_rooms(path):
                still = STILL.get(path.relative_to(room.parent).as_posix(), ())
                if other in FLOOR_OF and other != room.name and other not in still:
                    assert FLOOR_OF[other] < FLOOR_OF[room.name], f"{path.relative_to(repository)} imports {other}"


def test_an_evaluation_does_not_know_another(repository):
    room = repository / "src" / "openworld" / "evaluations"
    slices = {path.name for path in room.iterdir() if path.is_dir() and path.name[0] != "_"}
    known = {
        (path.relative_to(room).parts[0].removesuffix(".py"), part)
        for path in room.rglob("*.py")
        for part in re.findall(r"^ *from openworld\.evaluations\.(\w+)", path.read_text(encoding="utf-8"), re.M)
        if part in slices
    }
    assert {(one, other) for one, other in known if one != other} == SLICES_STILL


def test_importing_a_room_imports_nothing_heavy():
    """One after the other in one process; commands that read scores are tried in tests/cli/test_light.py."""
    lines = ["import sys, openworld", "assert 'openworld.api' not in sys.modules and 'score' in dir(openworld)"]
    for modules, heavy in (
        ("openworld", {"numpy", "torch", "cyclopts", "rich"}),
        ("openworld.evaluations", {"numpy", "torch"}),
        ("openworld.metrics", {"torch", "PIL", "pyarrow", "scipy", "matplotlib"}),
        ("openworld.results", {"torch", "PIL", "pyarrow", "scipy", "rich"}),
        (
            "openworld.tables.stream, openworld.tables.embeddings, openworld.tables.probabilities",
            {"torch", "PIL", "pyarrow", "scipy", "pandas"},
        ),
    ):
        lines.append(f"import {modules}; assert not {heavy} & set(sys.modules), {modules!r}")
    assert subprocess.run([sys.executable, "-c", "\n".join(lines)]).returncode == 0


def test_run_time_needs_no_other_model_library(repository):
    others = {"transformers", "open_clip", "timm", "torchvision"}
    for path in (repository / "src").rglob("*.py"):
        assert not others & {name.split(".")[0] for name in imported(path)}, path


def test_no_image_is_opened_without_saying_its_formats(repository):
    """Pillow tries every format that it knows otherwise, and starts another program for some."""
    opened = [
        (path.name, call)
        for room in ("src", "tools", "bench")
        for path in sorted((repository / room).rglob("*.py"))
        for call in nodes(path)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "Image.open"
    ]
    assert opened
    for name, call in opened:
        assert "formats" in {keyword.arg for keyword in call.keywords}, f"{name}, line {call.lineno}"


def modules(repository):
    """Every module of ours, by its dotted name: its path."""
    paths = (repository / "src").rglob("*.py")
    named = {".".join(path.relative_to(repository / "src").with_suffix("").parts): path for path in paths}
    return {name.removesuffix(".__init__"): path for name, path in named.items()}


def imported_modules(name, paths):
    """Modules of ours that a module imports, at its top or within a function; not the packages that it lies in."""
    for node in nodes(paths[name]):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "openworld":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found = inner if inner in paths else node.module
                if not f"{name}.".startswith(f"{found}."):
                    yield found


def test_no_room_imports_a_private_module_of_another(repository):
    paths = modules(repository)
    for name in paths:
        for other in imported_modules(name, paths):
            _, room, *inner = other.split(".")
            if name.split(".")[1:2] != [room]:
                assert not any(part.startswith("_") for part in inner), f"{name} imports {other}"


WRITERS = {
    "runs/atomic.py",
    "features/cache.py",  # the mark of a set in use, which is locked
    "shifts/synthesis/generating.py",  # appends to a journal
    "label_free/watch/exports.py",  # appends lines
    "api/finished_runs.py",  # appends to the summary of a workflow
    "core/plugins.py",  # standard streams
    "runs/scratch.py",  # an example
}


def test_one_door_for_all_that_is_written(repository):
    package = repository / "src" / "openworld"
    for path in package.rglob("*.py"):
        place = path.relative_to(package).as_posix()
        if place in WRITERS or place.startswith("testing/"):
            continue
        for call in (node for node in nodes(path) if isinstance(node, ast.Call)):
            name = ast.unparse(call.func)
            modes = [each.value for each in call.args[:2] if isinstance(each, ast.Constant)]
            opened = name.rpartition(".")[2] == "open" and any(set(str(mode)) & set("wax+") for mode in modes[-1:])
            assert not opened or name == "tarfile.open", f"{place} writes a file: use runs.atomic.write_file"
            assert name.rpartition(".")[2] not in ("write_text", "write_bytes"), place
            assert name not in ("os.replace", "os.rename", "shutil.move", "shutil.copy", "tempfile.mkdtemp"), place
            assert name != "tempfile.TemporaryDirectory", f"{place}: use runs.scratch.ScratchFolder"


def test_no_import_circle(repository):
    """Imports within functions, and those for types alone, count as well."""
    paths = modules(repository)
    needs = {name: set(imported_modules(name, paths)) for name in paths}

    @cache
    def reached(name):
        found, waiting = set(), [name]
        while waiting:
            new = needs[waiting.pop()] - found
            found |= new
            waiting += new
        return found

    assert {name for name in paths if name in reached(name)} == set()


TWICE = {  # class names that are still defined more than once, and how often; nothing may be added
    **dict.fromkeys(("Head", "Unit"), 2),
}


def test_a_class_name_is_defined_once(repository):
    classes = (node for path in modules(repository).values() for node in nodes(path) if isinstance(node, ast.ClassDef))
    defined = Counter(node.name for node in classes if node.col_offset == 0 and node.name[0] != "_")
    assert {name: times for name, times in defined.items() if times > TWICE.get(name, 1)} == {}


CHANGING = {"BatchSize", "Reader"}
"""Dataclasses that keep what they find out."""


def test_what_bundles_inputs_or_results_is_frozen(repository):
    changing = {
        node.name
        for path in modules(repository).values()
        for node in nodes(path)
        if isinstance(node, ast.ClassDef)
        for made in map(ast.unparse, node.decorator_list)
        if made.startswith("dataclass") and "frozen=True" not in made
    }
    assert changing == CHANGING


def test_what_packages_export_says_what_it_takes_and_returns():
    lacking = [
        f"{function.__module__}.{function.__qualname__}: {name}"
        for room in (*FLOOR_OF, "shifts.synthesis")
        for function in exported_functions(importlib.import_module(f"openworld.{room}"))
        for name, kind in (*parameters_of(function), ("return", inspect.signature(function).return_annotation))
        if kind is inspect.Parameter.empty
    ]
    assert lacking == []


def exported_functions(package):
    """Functions and public methods of what a package has in `__all__`, without what decorators put around them."""
    for name in getattr(package, "__all__", ()):
        exported = getattr(package, name)
        parts = vars(exported).values() if inspect.isclass(exported) else (exported,)
        for part in parts:
            function = inspect.unwrap(
                next((getattr(part, at) for at in ("fget", "func", "__func__") if hasattr(part, at)), part)
            )
            is_ours = inspect.isfunction(function) and function.__module__.startswith("openworld.")
            if is_ours and (function.__name__[0] != "_" or function.__qualname__.endswith("__call__")):
                yield function


def parameters_of(function):
    return (
        (name, each.annotation)
        for name, each in inspect.signature(function).parameters.items()
        if name not in ("self", "cls")
    )
