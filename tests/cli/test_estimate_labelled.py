"""`openworld estimate --labelled-shift`: files by family, pictures, corruptions; what is shown, kept and refused."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from openworld.cli.app import app
from openworld.cli.in_process import CliRunner
from openworld.label_free.estimate import scoring

sys.path.insert(0, str(Path(__file__).parents[1] / "estimators"))

from simulated import outputs  # noqa: E402

pytestmark = pytest.mark.usefixtures("few_resampled_sources")


def openworld(*arguments):
    return CliRunner().invoke(app, ["estimate", *map(str, arguments)], env={"COLUMNS": "200"})


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Scores of a source, of a target, and of three families of labelled shifts."""
    folder = tmp_path_factory.mktemp("labelled")

    def save(name, seed, lost, n=800, labels=True):
        found = outputs(seed, n, 4, 2.4 - 1.6 * lost)
        held = {"logits": (1 - 0.2 * lost) * found.logits} | ({"labels": found.labels} if labels else {})
        np.savez(folder / f"{name}.npz", **held)

    save("source", 0, 0.0, 800)
    save("target", 99, 1.0, 600, labels=False)
    for seed, family in enumerate(("noise", "blur", "fog"), 1):
        for place in (1, 2, 3, 4):
            save(f"{family}-{place}", 10 * seed + place, place / 3.2)
    return folder


def labelled(files, families=("noise", "blur", "fog")):
    for family in families:
        for place in (1, 2, 3, 4):
            yield from ("--labelled-shift", f"{family}={files / family}-{place}.npz")


def test_labelled_files_give_a_number_a_table_and_a_reason(files, tmp_path):
    asked = ("--source", files / "source.npz", "--target", files / "target.npz")
    assert openworld(*asked).exit_code == 4
    done = openworld(*asked, *labelled(files), "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "12 labelled sets of 3 families" in done.output and "points on average" in done.output
    told = json.loads((tmp_path / "out" / "estimate.json").read_text())
    assert {one["family"] for one in told["learned"]["left_out"]} == {"noise", "blur", "fog"}
    assert told["made"]["fog-4.npz"].startswith("SHA-256")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Labelled shifts" in page and "fog-4.npz" in page


def test_a_file_without_a_family_is_one_of_its_own(files):
    asked = ("--source", files / "source.npz", "--target", files / "target.npz", "--json")
    names = ("noise-1", "blur-2", "fog-3", "fog-4", "noise-4")
    plain = [part for name in names for part in ("--labelled-shift", files / f"{name}.npz")]
    told = json.loads(openworld(*asked, *plain).output)
    assert [one["family"] for one in told["learned"]["left_out"]] == list(names)


def test_wrong_use_is_exit_code_2(files):
    asked = ("--source", files / "source.npz", "--target", files / "target.npz")
    for options, words in (
        (labelled(files, ("noise", "blur")), "families blur, noise"),
        (("--labelled-shift", "fog="), "FAMILY=FILE"),
        (("--labelled-shift", files / "none.npz"), "there is no file"),
        (("--labelled-shift", "corruptions"), "need a model"),
        (
            ("--labelled-shift", "corruptions", "--model", "embedded", "--classnames", files / "names.txt"),
            "files of scores",
        ),
    ):
        (files / "names.txt").write_text("ant\nbee\ncat\ndog\n")
        done = openworld(*asked, *options)
        assert done.exit_code == 2 and words in done.output + str(done.stderr), done.output


def test_corruptions_of_the_source_are_scored_once(pictures, tmp_path, monkeypatch):
    monkeypatch.setattr(scoring, "MOST", 8)
    scored = []
    write = scoring.write_scores

    def counting(shown, panel, path, *rest, **further):
        reused = write(shown, panel, path, *rest, **further)
        scored.extend([path.name] * (not reused))
        return reused

    monkeypatch.setattr(scoring, "write_scores", counting)
    asked = ("--source", pictures / "source", "--target", pictures / "target", "--model", "embedded")
    options = ("--labelled-shift", "corruptions", "--out", tmp_path / "out", "--template", "an icon of a {}.")
    options += ("--estimator", "DoC")
    done = openworld(*asked, *options)
    assert done.exit_code in (0, 4), done.output
    assert len(scored) == 18 and len(list((tmp_path / "out" / "scores").glob("labelled-*.parquet"))) == 16
    told = json.loads((tmp_path / "out" / "estimate.json").read_text())
    assert len(told["learned"]["left_out"]) == 16 and told["learned"]["caution"] > 1
    assert {one["name"] for one in told["learned"]["left_out"]} >= {"gaussian_noise 2", "fog 5"}
    again = openworld(*asked, *options)
    assert len(scored) == 18 and "are there already, and are used again" in again.output
    openworld(*asked, *options, "--seed", 1)
    assert len(scored) == 34  # source and target do not depend on the seed


def test_labelled_images_are_scored(pictures):
    """Of a data set, and of a folder of class folders."""
    places = {"noto": "emoji-groups/noto/validation"}
    places |= dict.fromkeys(("a folder", "the same", "again", "once more"), pictures / "source")
    shifts = [part for family, place in places.items() for part in ("--labelled-shift", f"{family}={place}")]
    asked = ("--source", pictures / "source", "--target", pictures / "target", "--model", "embedded", *shifts)
    done = openworld(*asked, "--template", "an icon of a {}.", "--json", "--estimator", "DoC")
    assert done.exit_code in (0, 4), done.output
    left_out = json.loads(done.output)["learned"]["left_out"]
    assert {one["family"] for one in left_out} == set(places)
    assert all(0 < one["accuracy"] < 1 for one in left_out)
