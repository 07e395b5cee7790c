"""The README's other commands and examples, run in the environment at hand.

The links of all pages lead somewhere, and their commands exist with the options that they are given.
"""

import re
import shlex
import tomllib

import pytest

import openworld as ow
from openworld.cli.app import app, commands
from openworld.cli.in_process import invoke
from openworld.evaluations import evaluation_of, read_protocol


@pytest.fixture(scope="module")
def blocks(repository):
    """Fenced blocks of the README by language."""
    found = re.findall(r"```(\w*)\n(.*?)```", (repository / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    return {language: [text for other, text in found if other == language] for language, _ in found}


def test_the_python_example_runs(blocks, tmp_path, monkeypatch, capsys):
    """With predictions in the place of the demo, which takes minutes."""
    predictions = {"side": ["base", "base", "new", "new"], "score": [3, 2, 1, 2.5], "correct": [1, 1, 1, 0]}
    monkeypatch.setattr(ow, "run", {"demo": ow.score(predictions)}.__getitem__, raising=False)
    monkeypatch.chdir(tmp_path)
    (text,) = blocks["python"]
    exec(text, {})  # the README is ours
    assert "OpenworldAUC" in capsys.readouterr().out and (tmp_path / "trade-off.pdf").stat().st_size


def test_the_spec_of_ones_own_data_is_a_spec(repository):
    page = (repository / "docs" / "own-model-and-data.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    spec = read_protocol(tomllib.loads(text))
    assert [entry.label for entry in spec.learners] == ["zero-shot", "GMoP"]


def test_the_score_command_runs(repository, tmp_path, monkeypatch):
    assert "openworld score predictions.csv" in (repository / "README.md").read_text(encoding="utf-8")
    (tmp_path / "predictions.csv").write_text(
        "side,score,correct\nbase,2,1\nbase,1,1\nbase,0,0\nnew,0.5,1\nnew,-1,0\nnew,-2,1\n"
    )
    monkeypatch.chdir(tmp_path)
    done = invoke(app, ["score", "predictions.csv"])
    assert done.exit_code == 0, done.output
    # Four rightly named pairs of nine count: 2 and 1 against .5 and -2.
    assert "44.4" in done.stdout


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs"])
def test_links_within_the_repository_lead_somewhere(repository, page):
    path = repository / page
    for file in sorted(path.rglob("*.md")) if path.is_dir() else [path]:
        prose = re.sub(r"```.*?```", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)\)", prose):
            assert (file.parent / target).exists(), f"{file.name} links to {target}"


def test_files_that_contributors_are_sent_to_exist(repository):
    page = (repository / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w./-]+\.(?:py|toml|md))`", page))
    folders = [repository / name for name in ("src", "tests", "docs", "examples", "tools")]
    there = [path.as_posix() for folder in folders for path in folder.rglob("*.*")]
    assert len(named) > 20 and [name for name in named if not any(f"/{name}" in path for path in there)] == []


def anchors_of(page: str) -> set[str]:
    """What a link may say behind `#`: the headings, in small letters, without signs, joined by hyphens."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", page, flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_into_pages_lead_to_a_heading(repository):
    pages = {path: path.read_text(encoding="utf-8") for path in (repository / "docs").rglob("*.md")}
    links = [(path, *link) for path in pages for link in re.findall(r"\]\(([\w/.-]*(?:\.md)?)#([^)]+)\)", pages[path])]
    assert len(links) > 20
    for path, page, anchor in links:
        assert anchor in anchors_of(pages[(path.parent / page).resolve() if page else path]), (
            f"{path.name}: {page}#{anchor}"
        )


def commands_of(page: str) -> list[list[str]]:
    """Every `openworld ...` that a page prints, in a fenced block or between backticks, in words."""
    fenced = "".join(re.findall(r"```\w*\n(.*?)```", page, re.DOTALL)).replace("\\\n", " ")
    lines = [line.strip() for line in fenced.splitlines() if "·" not in line]  # what a run prints of itself
    lines += re.findall(r"`(openworld [^`]+)`", page.replace("\n", " "))
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("openworld ")]


def test_commands_of_all_pages_have_the_options_that_they_are_given(repository):
    pages = [repository / "README.md", repository / "CONTRIBUTING.md", *(repository / "docs").rglob("*.md")]
    wrong, count = [], 0
    for page in pages:
        for words in commands_of(page.read_text(encoding="utf-8")):
            _, apps, rest = commands.parse_commands(
                [word for word in words if word not in ("--debug", "--version", "--help", "-h")]
            )
            is_command, count = apps[-1].default_command is not None, count + 1
            known = {"--help"}
            if is_command:
                known |= {name for each in apps[-1].assemble_argument_collection() for name in each.names}
            named = rest and not is_command and not rest[0].startswith("-")
            if named or not known.issuperset(word for word in rest if word.startswith("--")):
                wrong.append(f"{page.name}: openworld {' '.join(words)}")
    assert count > 100 and not wrong


def test_the_example_specs_are_specs(repository):
    for path in (repository / "examples").glob("*.toml"):
        assert evaluation_of(read_protocol(path)).summary(read_protocol(path))
