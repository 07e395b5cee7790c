import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from openworld.runs import git_revision, installed_version, provenance


def git(folder, *arguments):
    identity = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


def test_git_revision_and_its_dirty_flag(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git_revision(tmp_path) is None
    git(tmp_path, "init")
    assert git_revision(tmp_path) is None  # no commit yet
    (tmp_path / "file").write_text("1")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "-m", "first")
    clean = git_revision(tmp_path)
    assert len(clean["revision"]) == 40 and clean["dirty"] is False
    (tmp_path / "file").write_text("2")
    assert git_revision(tmp_path) == clean | {"dirty": True}


def test_versions_come_without_importing(tmp_path):
    assert installed_version("numpy") == np.__version__
    assert installed_version("no-such-package-at-all") is None
    code = "import sys, openworld.runs as r; r.provenance(); print({'torch', 'pyarrow'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


def test_home_is_not_spelt_out():
    home = str(Path.home())
    stated = provenance(command=[f"{home}/bin/openworld", "run", f"--out={home}/x"], weights={"clip": "ab"}, folder="/")
    assert stated["command"] == ["openworld", "run", "--out=~/x"]
    assert stated["weights"] == {"clip": "ab"} and stated["git"] is None
    assert json.loads(json.dumps(stated)) == stated
