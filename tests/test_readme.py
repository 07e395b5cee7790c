"""The README's other commands and examples, run in the environment at hand; its links lead somewhere."""

import re
import subprocess
import sys
import tomllib

import numpy as np
import pytest

from openworld.protocols import module_of, read_protocol


@pytest.fixture(scope="module")
def blocks(repository):
    """Fenced blocks of the README by language."""
    found = re.findall(r"```(\w*)\n(.*?)```", (repository / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    return {language: [text for other, text in found if other == language] for language, _ in found}


def test_the_python_example_runs(blocks, capsys):
    generator = np.random.default_rng(0)
    given = {
        "base_scores": generator.normal(1, 1, 50),
        "base_correct": generator.random(50) < 0.8,
        "new_scores": generator.normal(0, 1, 60),
        "new_correct": generator.random(60) < 0.6,
    }
    (text,) = blocks["python"]
    exec(text, given)  # the README is ours
    assert 0 < given["ours"].value < 1
    assert "PointsLost" in capsys.readouterr().out


def test_the_spec_example_is_a_spec(blocks):
    (text,) = blocks["toml"]
    spec = read_protocol(tomllib.loads(text))
    assert [one.label for one in spec.learners] == ["zero-shot", "GMoP"]


def test_the_score_command_runs(blocks, tmp_path):
    assert any("openworld score predictions.csv" in text for text in blocks[""])
    (tmp_path / "predictions.csv").write_text(
        "side,score,correct\nbase,2,1\nbase,1,1\nbase,0,0\nnew,0.5,1\nnew,-1,0\nnew,-2,1\n"
    )
    command = [sys.executable, "-m", "openworld", "score", "predictions.csv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # Four rightly named pairs of nine count: 2 and 1 against .5 and -2.
    assert "44.4" in done.stdout


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs"])
def test_links_within_the_repository_lead_somewhere(repository, page):
    path = repository / page
    for file in sorted(path.glob("*.md")) if path.is_dir() else [path]:
        prose = re.sub(r"```.*?```", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)\)", prose):
            assert (file.parent / target).exists(), f"{file.name} links to {target}"


def test_the_example_specs_are_specs(repository):
    for path in (repository / "examples").glob("*.toml"):
        assert module_of(read_protocol(path)).summary(read_protocol(path))
