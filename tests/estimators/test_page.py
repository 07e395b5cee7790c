"""The pages on accuracy without labels: their limits are the code's, their table of published errors the paper's."""

import doctest
import re
from statistics import mean

import pytest

from openworld.estimators import ESTIMATORS, calibrated_confidence, quote
from openworld.estimators.engine import checks
from openworld.estimators.quote import shift_signs, source_check
from openworld.estimators.quote.decision import POWER
from openworld.papers import published_numbers

PAGES = "accuracy-without-labels.md", "estimate-rule.md", "estimate-inputs.md"
PUBLISHED = "evidence/estimators-compared.md"
ENDS = {"corruptions (8)": "-S", "natural shifts, novel subpopulations (8)": "-N", "all 18": ""}  # of the rows' names
COLUMNS = {"FRAP (CLIP)", "FRAP (SigLIP)", "COTT", "COT", "ATC-MC", "ATC-NE", "ProjNorm", "AC", "DoC", "IM", "GDE"}


def test_the_example_runs(repository):
    page = str(repository / "docs" / PAGES[0])
    failed, tried = doctest.testfile(page, module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert tried and not failed


def test_the_pages_tell_the_limits_of_the_code(repository):
    """Numbers of sentences about what is quoted, which reference may be asked, and which source will do."""
    about, text, inputs = (" ".join((repository / "docs" / name).read_text(encoding="utf-8").split()) for name in PAGES)
    limits = quote.Limits()
    told = [
        f"below .{100 * shift_signs.LEVEL:02.0f} corrected for all",
        f"or below .{100 * shift_signs.ALONE:02.0f}.",
        f"exchanged at random {shift_signs.DEALS} times",
        f"a fall of {100 * limits.hidden:.0f} points would not be seen",
        f"(p at least .{100 * limits.fits:02.0f}, nine tenths of the distance gone)",
        f"differ by no more than {limits.moved}",
        f"lie at most {100 * limits.views:.0f} points apart, at most {100 * limits.known_loss:.0f} points are lost",
        f"(p below .{100 * limits.sure:02.0f}), DoC and ATC-MC lie at most {100 * limits.apart:.0f} points above it",
        f"at most {100 * limits.lost:.0f} are lost, a fall of {100 * limits.seen:.0f} points would be seen",
        f"(COT / COT on source-like sets)^{POWER}",
        f"AUROC below {100 * checks.AREA:.0f} %",
        f"more than {100 * checks.GAP:.0f} points from the accuracy",
        f"below {calibrated_confidence.A_CLASS} source images a class",
    ]
    assert f"({100 * source_check.SHARE:.0f} % and more)" in inputs and f"fewer than {source_check.FEW}" in inputs
    assert [one for one in told if one not in text] == []
    assert limits.taken == 0.9 and (checks.INFORMED, checks.HALF) == (1 / 4, 1 / 2)
    told = ["must be at least .25", "at least half of your model's accuracy"]
    told += [f"may be .{10 * checks.REPEATED:.0f} at most"]
    told.append(f"below {calibrated_confidence.A_CLASS} source images a class")
    assert [one for one in told if one not in about] == []
    assert not [name for name in ESTIMATORS if not re.search(rf"\b{name}\b", about)]


def test_published_errors_are_the_papers(repository):
    lines = (repository / "docs" / PUBLISHED).read_text(encoding="utf-8").splitlines()
    (start,) = (i for i, line in enumerate(lines) if line.startswith("| rows |"))
    header, _, *rows = ([cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines[start : start + 7])
    assert set(header[1:]) == COLUMNS
    printed = [one for one in published_numbers("frap", "1") if one.dataset != "Average"]
    for name, *cells in rows:
        for method, cell in zip(header[1:], cells, strict=True):
            of = [one for one in printed if one.method == method and one.dataset.endswith(ENDS.get(name, name))]
            assert float(cell) == pytest.approx(mean(one.value for one in of), abs=0.0501), f"{method} on {name}"
