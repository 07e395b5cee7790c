"""`openworld new`: specs that run as they are, and plug-ins that keep their kind's promises."""

import runpy
import tomllib

import pytest
from disturbed import draw_squares
from in_process import openworld, refused, told

from openworld.evaluations import EVALUATIONS, read_protocol


@pytest.mark.parametrize("name", EVALUATIONS)
def test_the_spec_of_every_evaluation_is_read_as_it_is_printed(name):
    done = openworld("new", name)
    assert done.exit_code == 0, done.stderr
    assert read_protocol(tomllib.loads(done.stdout)) and done.stdout.count("#") > 2


def test_a_spec_has_the_folders_that_are_given(tmp_path):
    draw_squares(tmp_path, {"red": (220, 30, 30), "blue": (30, 60, 220)})
    squares, darker = str(tmp_path / "squares"), str(tmp_path / "darker")
    spec = tomllib.loads(told(tmp_path, "new", "generalisation", "--data", squares, "--test", darker))
    assert spec["source"]["dataset"] == squares and spec["backbone"] == "ViT-B/16"
    assert [entry["dataset"] for entry in spec["variants"]] == [darker]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("recogniton",), "recognition"),
        (("recognition", "--data", "nowhere"), "nowhere"),
        (("recognition", "--data", "emoji-concepts", "--test", "emoji-groups"), "generalisation"),
        (("recognition", "MyName"), "my-run.toml"),
        (("learner",), "MyLearner"),
        (("learner", "my learner"), "class name"),
        (("learner", "Mine", "--data", "photos"), "no data"),
    ],
)
def test_what_cannot_be_written_is_refused(arguments, words):
    refused(words, "new", *arguments)


@pytest.mark.parametrize("kind", ["learner", "detector", "estimator", "evaluation"])
def test_a_plug_in_has_its_name_everywhere(kind, tmp_path, monkeypatch):
    told(tmp_path, "new", kind, "BrightIdea")
    texts = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "bright_idea").iterdir()}
    whole = "".join(texts.values())
    assert "bright_idea.py" in texts and "BrightIdea" in whole
    assert not any(former in whole for former in ("Halfway", "halfway", "Margin(", "NearestMeans", "class_means"))
    assert tomllib.loads(texts["pyproject.toml"])["project"]["entry-points"][f"openworld.{kind}s"]
    refused("exists already", "new", kind, "BrightIdea", cwd=tmp_path)
    if kind == "estimator":  # the quickest; its test passes as it is
        monkeypatch.syspath_prepend(str(tmp_path / "bright_idea"))
        (file,) = (tmp_path / "bright_idea").glob("test_*.py")
        (test,) = (test for name, test in runpy.run_path(str(file)).items() if name.startswith("test_"))
        test()
