"""`openworld detect`: exit codes and what a terminal shows; the work is tested in tests/ood/detect."""

import numpy as np
import pytest
from in_process import openworld, refused, told


@pytest.fixture
def place(tmp_path):
    """A folder with scores of sets, and of a day's images."""
    generator = np.random.default_rng(0)
    rows = [f"id,{part},{x:.3f},{x / 2:.3f}" for part in ("test", "validation") for x in generator.normal(2, 1, 60)]
    rows += [f"near,,{x:.3f},{-x:.3f}" for x in generator.normal(0, 1, 40)]
    (tmp_path / "scores.csv").write_text("group,part,MSP,KNN\n" + "\n".join(rows) + "\n")
    (tmp_path / "today.csv").write_text("image,MSP\na.png,-3\nb.png,4\n")
    return tmp_path


def test_thresholds_of_scores_flag_rows_of_another_table_and_the_exit_code_says_so(place):
    shown = told(place, "detect", "--scores", "scores.csv", "--flag-rate", "0.05", "--out", "out [b]")
    assert "MSP has the highest AUROC" in shown and "Flagged by a threshold" in shown
    assert "out [b]/report.html" in "".join(shown.splitlines()), "what is printed is no markup"
    done = openworld("detect", "--apply", "out [b]", "today.csv", cwd=place)
    assert done.exit_code == 3 and "a.png" in done.output and "b.png" not in done.output
    told(place, "detect", "--apply", "out [b]", "today.csv", "--at-most", "0.5")


SCORES = ("--scores", "scores.csv")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*SCORES, "--replicates", "1"), "expected 2 or more"),
        ((), "give one of the three"),
        ((*SCORES, "--id", "mine"), "give one of the three"),
        ((*SCORES, "--model", "mine"), "--model is of a model and images, and --scores came"),
        (("--apply", "nowhere", "today.csv", "--ood", "x"), "--ood is of a model and images, and --apply came"),
        (("today.csv", *SCORES), "came without --apply"),
    ],
)
def test_wrong_use_is_a_sentence(place, arguments, words):
    refused(words, "detect", *arguments, cwd=place)
