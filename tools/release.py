"""Build a release, look at what is in it, and try it as three kinds of user would; publishes nothing.

    python tools/release.py                     about ten minutes: the demo runs twice
    python tools/release.py --environments base

Wheel and sdist go to dist/. The wheel is installed into clean environments (base; models; all), each of which runs the
README's commands as far as it has what they need, and a smoke test. It prints size and time of each.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import venv
import zipfile
from collections import Counter
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
EXTRAS = {"base": "", "models": "[models]", "all": "[models,plots,onnx,hf,ray]"}
NEEDED = {".py", ".typed", ".toml", ".json", ".csv", ".txt", ".md", ".parquet", ".safetensors", ".js", ".css", ".j2"}
"""Endings of what belongs into a wheel; licences have none."""
PREDICTIONS = "side,score,correct\n" + "".join(f"base,0.{n},1\nnew,0.{n - 4},{n % 2}\n" for n in range(5, 10))
SCORES = "group,set,MSP\n" + "".join(f"id,mine,0.{n}\nfar,others,0.{n - 4}\n" for n in range(5, 10))
SMOKE = {
    "base": (
        "openworld list metrics",
        "openworld doctor",
        "openworld score predictions.csv --out run",
        "openworld check run --require 'openworld_auc >= 0'",
        "openworld cite run",
        "openworld detect --scores scores.csv --replicates 20",
        "python -c 'import sys, openworld; assert \"torch\" not in sys.modules'",
    ),
    "models": ("openworld demo",),
    "all": ("python readme.py",),
}


def build(out: Path) -> tuple[Path, Path]:
    """Build wheel and sdist in an environment of their own; return both."""
    shutil.rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        python = environment(Path(scratch) / "build", ("build", "twine"))
        run([python, "-m", "build", "--outdir", out, REPOSITORY])
        (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
        run([python, "-m", "twine", "check", "--strict", wheel, sdist])
    return wheel, sdist


def environment(place: Path, packages: tuple[str, ...]) -> Path:
    """Make a clean environment with these packages, of the versions in constraints.txt; return its Python."""
    venv.create(place, with_pip=True)
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    run([python, "-m", "pip", "install", "-q", "-c", REPOSITORY / "constraints.txt", *packages])
    return python


def run(command: list, **how) -> None:
    """Run a command; what it printed is shown where it fails."""
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed ({done.returncode}):\n{done.stdout[-4000:]}")


def contents(wheel: Path, sdist: Path) -> list[str]:
    """Return what the wheel holds, by folder, in lines; exit where something is in it that nobody needs."""
    with zipfile.ZipFile(wheel) as archive:
        entries = {entry.filename: entry.file_size for entry in archive.infolist()}
    files = {name: size for name, size in entries.items() if not re.match(r"openworld-[^/]+\.dist-info/", name)}
    strange = [name for name in files if Path(name).suffix not in NEEDED or not name.startswith("openworld/")]
    if strange:
        sys.exit(f"the wheel holds what nobody needs: {', '.join(strange)}")
    folders: Counter[str] = Counter()
    for name, size in files.items():
        folders["/".join(name.split("/")[:2]) if name.count("/") > 1 else "openworld/*"] += size
    lines = [f"  {size / 1e6:6.2f} MB  {folder}" for folder, size in folders.most_common()]
    with tarfile.open(sdist) as archive:
        count = len(archive.getnames())
    digest = hashlib.sha256(sdist.read_bytes()).hexdigest()
    return [
        f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {len(files)} files",
        *lines,
        f"{sdist.name}: {sdist.stat().st_size / 1e6:.1f} MB, {count} entries, SHA-256 {digest}",
    ]


def try_out(name: str, wheel: Path) -> str:
    """Install the wheel into a clean environment, run the smoke tests up to this one, and return a row."""
    with tempfile.TemporaryDirectory() as scratch:
        place, folder = Path(scratch) / "environment", Path(scratch) / "work"
        began = time.monotonic()
        python = environment(place, (f"{wheel}{EXTRAS[name]}",))
        installed = time.monotonic() - began
        folder.mkdir()
        (folder / "predictions.csv").write_text(PREDICTIONS)
        (folder / "scores.csv").write_text(SCORES)
        (folder / "readme.py").write_text(readme_python())
        path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
        began, commands = (
            time.monotonic(),
            [c for kind in list(SMOKE)[: list(SMOKE).index(name) + 1] for c in SMOKE[kind]],
        )
        for command in commands:
            if name == "base" or "torch" not in command:
                run(["bash", "-c", command], cwd=folder, env=os.environ | {"PATH": path})
        ran = time.monotonic() - began
        size = sum(file.lstat().st_size for file in place.rglob("*") if file.is_file() and not file.is_symlink())
        row = f"{name:<8} {size / 1e6:>7,.0f} MB {installed:>6.0f} s to install"
        return f"{row} {ran:>6.0f} s for {len(commands)} commands"


def readme_python() -> str:
    """The README's lines of Python."""
    blocks = re.findall(r"```python\n(.*?)```", (REPOSITORY / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    return "".join(blocks)


def main() -> None:
    """Build, look, try, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=REPOSITORY / "dist", help="where wheel and sdist go")
    parser.add_argument("--environments", nargs="*", choices=EXTRAS, default=list(EXTRAS), help="which to try")
    chosen = parser.parse_args()
    version = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    print(f"openworld {version}")
    wheel, sdist = build(chosen.out.resolve())
    print("\n".join(contents(wheel, sdist)), flush=True)
    for name in chosen.environments:
        print(try_out(name, wheel), flush=True)


if __name__ == "__main__":
    main()
