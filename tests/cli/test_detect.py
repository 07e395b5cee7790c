"""`openworld detect`: exit codes and what a terminal shows; the work is tested in tests/ood/detect."""

import numpy as np
import pytest

from openworld.cli.app import app
from openworld.cli.in_process import CliRunner


def openworld(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def scores(tmp_path):
    generator = np.random.default_rng(0)
    lines = [f"id,test,{x:.3f},{x / 2:.3f}" for x in generator.normal(2, 1, 60)]
    lines += [f"id,validation,{x:.3f},{x / 2:.3f}" for x in generator.normal(2, 1, 60)]
    lines += [f"near,,{x:.3f},{-x:.3f}" for x in generator.normal(0, 1, 40)]
    file = tmp_path / "scores.csv"
    file.write_text("group,part,MSP,KNN\n" + "\n".join(lines) + "\n")
    return file


def test_thresholds_of_scores_flag_rows_of_another_table_and_the_exit_code_says_so(scores, tmp_path):
    out = tmp_path / "out [b]"
    done = openworld("detect", "--scores", scores, "--flag-rate", "0.05", "--out", out)
    assert (
        done.exit_code == 0 and "MSP has the highest AUROC" in done.output and "Flagged by a threshold" in done.output
    )
    assert "out [b]/report.html" in "".join(done.output.splitlines()), "what is printed is no markup"
    (tmp_path / "today.csv").write_text("image,MSP\na.png,-3\nb.png,4\n")
    done = openworld("detect", "--apply", out, tmp_path / "today.csv")
    assert done.exit_code == 3 and "a.png" in done.output and "b.png" not in done.output
    assert openworld("detect", "--apply", out, tmp_path / "today.csv", "--at-most", "0.5").exit_code == 0


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--flag-rate", "1e-320", "give 1000000000 or more"),
        ("--flag-rate", "0", "expected a fraction"),
        ("--replicates", "10000000000000000000000", "expected an integer of 64 bits"),
        ("--replicates", "1", "expected 2 or more"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(scores, option, value, words):
    done = openworld("detect", "--scores", scores, "--replicates", "0", option, value)
    assert done.exit_code in (1, 2) and words in done.stderr, done.stderr


def test_one_of_the_three_ways_is_wanted(scores):
    done = openworld("detect")
    assert done.exit_code == 2 and "give one of the three" in done.stderr
    assert openworld("detect", "--scores", scores, "--id", "mine").exit_code == 2
