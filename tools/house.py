"""How large the house is: lines, files and classes of every room beside the most that they may be.

    python tools/house.py

A limit is lowered when a room has become smaller; whoever raises one says in the commit what the room gained.
"""

import ast
import re
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src" / "openworld"
LINES = {
    "evaluations": 8_815,
    "label_free": 7_151,
    "estimators": 6_415,
    "detectors": 6_099,
    "datasets": 5_865,
    "ood": 5_571,
    "report": 5_337,
    "own_data": 4_275,
    "metrics": 4_014,
    "learners": 4_256,
    "backbones": 3_903,
    "reproduction": 3_932,
    "api": 3_412,
    "shifts": 3_091,
    "runs": 2_228,
    "core": 2_145,
    "tables": 2_016,
    "labels": 1_975,
    "results": 1_725,
    "testing": 1_725,
    "classifiers": 1_700,
    "features": 1_381,
    "cli": 555,
    "papers": 608,
    "top": 90,
}
"""Room -> the most lines of Python that it may have."""
MOST = {
    "files": 600,
    "classes": 671,
    "small files of one user": 4,
    "short functions called once": 132,
    "participles as names": 514,
    "names that say picture": 0,
}
"""What is counted in the whole house -> the most of it."""
PARTICIPLES = {"own", "known", "given", "kept", "found", "named", "told", "asked", "judged", "shown"}
"""No names of things: what is known, given or found has a noun in the field."""


@cache
def texts() -> dict[str, str]:
    """Return path within the package -> text of every module."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in paths}


@cache
def nodes() -> dict[str, list[ast.AST]]:
    """Return path within the package -> all nodes of its syntax tree, so that a tree is walked once."""
    return {path: list(ast.walk(ast.parse(text))) for path, text in texts().items()}


@cache
def rooms() -> dict[str, Counter]:
    """Return room -> its lines, files and classes; modules beside the rooms are the room "top"."""
    found = defaultdict(Counter)
    for path, text in texts().items():
        room = path.split("/")[0] if "/" in path else "top"
        classes = sum(isinstance(node, ast.ClassDef) for node in nodes()[path])
        found[room].update(lines=text.count("\n"), files=1, classes=classes)
    return dict(found)


@cache
def importers() -> dict[str, set[str]]:
    """Return module file -> the files that import it or a name of it, anywhere in them."""
    modules = {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in texts()}
    users = {path: set() for path in texts()}
    for path, every in nodes().items():
        for node in every:
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("openworld"):
                continue
            package = node.module.removeprefix("openworld").removeprefix(".")
            for alias in node.names:
                inner = f"{package}.{alias.name}".removeprefix(".")
                module = modules.get(inner, modules.get(package))
                if module and module != path:
                    users[module].add(path)
    return users


def small_files_of_one_user() -> list[str]:
    """Return files under 80 lines that one file imports which is no `__init__`: they belong to it."""
    return [
        path
        for path, users in importers().items()
        if texts()[path].count("\n") < 80 and len(users) == 1 and "__init__.py" not in (path + min(users))
    ]


def short_functions_called_once() -> list[str]:
    """Return private functions of up to five lines that are named once beside their definition."""
    found = []
    for path, every in nodes().items():
        words = Counter(re.findall(r"\w+", texts()[path]))
        for node in every:
            if isinstance(node, ast.FunctionDef) and re.match(r"_[^_]", node.name):
                has_docstring = ast.get_docstring(node) is not None
                body = node.body[has_docstring:]
                lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                if lines <= 5 and words[node.name] == 2:
                    found.append(f"{path}: {node.name}")
    return found


def participles() -> Counter:
    """Return participle -> how many variables, arguments and attributes have it as their whole name."""
    found = Counter()
    for every in nodes().values():
        for node in every:
            name = node.arg if isinstance(node, ast.arg) else None
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                name = node.id
            if name in PARTICIPLES:
                found[name] += 1
    return found


def picture_names() -> list[str]:
    """Return names of classes, functions, arguments, variables and attributes that say picture: the word is image."""
    words = (
        getattr(node, field, None)
        for every in nodes().values()
        for node in every
        for field in ("name", "arg", "id", "attr")
    )
    return [word for word in words if isinstance(word, str) and "picture" in word.lower()]


@cache
def totals() -> dict[str, int]:
    """Return what `MOST` limits, as counted."""
    return {
        "files": len(texts()),
        "classes": sum(room["classes"] for room in rooms().values()),
        "small files of one user": len(small_files_of_one_user()),
        "short functions called once": len(short_functions_called_once()),
        "participles as names": participles().total(),
        "names that say picture": len(picture_names()),
    }


def main() -> None:
    print(f"{'room':14} {'lines':>7} {'limit':>7} {'files':>6} {'classes':>8}")
    for room, size in sorted(rooms().items(), key=lambda item: -item[1]["lines"]):
        print(f"{room:14} {size['lines']:7,} {LINES.get(room, 0):7,} {size['files']:6} {size['classes']:8}")
    print(f"{'all':14} {sum(size['lines'] for size in rooms().values()):7,} {sum(LINES.values()):7,}\n")
    for name, count in totals().items():
        print(f"{name}: {count}, at most {MOST[name]}")
    if "-v" in sys.argv:
        print(
            *small_files_of_one_user(),
            *short_functions_called_once(),
            *participles().most_common(),
            *picture_names(),
            sep="\n",
        )
    if any(size["lines"] > LINES[room] for room, size in rooms().items()) or any(
        count > MOST[name] for name, count in totals().items()
    ):
        sys.exit("a limit is exceeded")


if __name__ == "__main__":
    main()
