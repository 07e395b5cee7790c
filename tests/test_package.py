"""The wheel holds the data, the metadata says what it should, and the README's promises are kept."""

import re
import subprocess
import sys
import tomllib
import zipfile

import pytest

import openworld
from openworld.api.citing import bibliography

INSTALL = "python3 -m venv .venv && .venv/bin/pip install -q -c constraints.txt -e '.[test]'"
TEST_COMMAND = f"{INSTALL} && .venv/bin/python -m pytest -n auto"
DATA = (
    "openworld/py.typed",
    "openworld/api/listed.json",
    "openworld/datasets/emoji/pictures.parquet",
    "openworld/datasets/emoji/concepts.json",
    "openworld/datasets/emoji/NOTICE.md",
    "openworld/datasets/lists/class_names/caltech101.txt",
    "openworld/datasets/lists/imagenet_words.csv",
    "openworld/datasets/lists/NOTICE.md",
    "openworld/datasets/lists/WordNet-3.0.txt",
    "openworld/backbones/embedded/model.safetensors",
    "openworld/backbones/embedded/tokenizer.json",
    "openworld/backbones/embedded/config.json",
    "openworld/report/page.html.j2",
)


@pytest.fixture(scope="module")
def wheel(repository, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=repository,
        check=True,
        capture_output=True,
    )
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_the_data_and_is_small(wheel):
    with zipfile.ZipFile(wheel) as archive:
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    assert not set(DATA) - set(sizes)
    assert sum(size for name, size in sizes.items() if "/emoji/" in name or "/embedded/" in name) < 30_000_000


def test_metadata(repository):
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    models = project["optional-dependencies"]["models"]
    assert "torch>=2.6" in models and not set(models) & set(project["dependencies"])
    assert project["requires-python"] == ">=3.11"
    assert project["license"] == "Apache-2.0"
    assert "torch==2.13.0" in (repository / "constraints.txt").read_text()


def test_every_dependency_is_pinned_for_repeatable_installs(repository):
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["models"], *extras["test"], *extras["docs"]]
    names = {re.split(r"[<>=[]", requirement)[0] for requirement in wanted} - {"openworld"}
    pinned = {line.split("==")[0] for line in (repository / "constraints.txt").read_text().splitlines() if "==" in line}
    assert names <= pinned


def test_continuous_integration_runs_the_readmes_test_command(repository):
    assert TEST_COMMAND in (repository / "README.md").read_text()
    assert TEST_COMMAND in (repository / "CONTRIBUTING.md").read_text()
    assert TEST_COMMAND in (repository / ".ci" / "run").read_text()


def test_every_step_of_continuous_integration_is_a_job(repository):
    steps = re.findall(r"^(\w+)\(\) \{", (repository / ".ci" / "run").read_text(), re.MULTILINE)
    (jobs,) = re.findall(r"step: \[(.*)\]", (repository / ".github" / "workflows" / "ci.yml").read_text())
    assert set(steps) - {"installed", "browser"} == set(jobs.split(", "))


def test_contributing_is_short(repository):
    assert len((repository / "CONTRIBUTING.md").read_text().splitlines()) <= 70


def test_no_path_of_a_machine_slipped_in(repository):
    tracked = subprocess.run(["git", "ls-files"], cwd=repository, capture_output=True, text=True)
    if tracked.returncode:
        pytest.skip("not a git checkout: nothing to look through.")
    pattern = re.compile(r"(?<![\w.])/(root|home/\w+|work)/|localhost:\d+")
    for name in tracked.stdout.splitlines():
        if name.endswith((".py", ".md", ".toml", ".txt", ".json", ".j2", ".css", ".js", "run")):
            found = pattern.search((repository / name).read_text(encoding="utf-8"))
            assert not found or name == "tests/test_package.py", f"{name}: {found}"


def test_helpers_of_tests_have_names_of_their_own(repository):
    """They are imported by bare name, from whichever folder comes first."""
    helpers = [
        path.name for path in (repository / "tests").rglob("*.py") if not path.name.startswith(("test_", "conf"))
    ]
    assert sorted(set(helpers)) == sorted(helpers)


def test_the_citation_file_says_what_openworld_cite_says(repository):
    said = {}
    for line in (repository / "CITATION.cff").read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(": ")
        said.setdefault(key.strip(" -"), value.strip('"'))
    entry = bibliography([], ["openworld"])
    assert f"title = {{{{{said['title']}}}}}" in entry and f"author = {{{{{said['name']}}}}}" in entry
    assert f"note = {{Version {said['version']}}}" in entry and f"year = {{{said['date-released'][:4]}}}" in entry


def test_every_file_that_names_the_version_names_the_same(repository):
    version = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert version == openworld.__version__
    for file, text in {"CITATION.cff": f"version: {version}\n", "conda/recipe.yaml": f'version: "{version}"\n'}.items():
        assert text in (repository / file).read_text(encoding="utf-8")
    assert f"\n## {version} " in (repository / "CHANGELOG.md").read_text(encoding="utf-8")
