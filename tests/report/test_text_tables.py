"""Names of any kind in Markdown and LaTeX: nothing in them is a command, and pdflatex takes every sign."""

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld.report.text_tables import as_tex, markdown_table, plain, tabular

NAMES = (
    "ΔAUC → τ, 5 % of café",
    "10⁻² ± 3 × 4 − 1 – 2 ≤ 3 · µ λ Σ ς ή",
    "a_b & c#d $e {f} ~g ^h \\i <j> |k|",
    "[red] crane [/bird]",
    "*starred*",
    "naïve Dvořák Łódź Ångström Straße Ǻ ế",
    "漢字 🐦 €\u200b p\u00a0<\u00a0.001 “quoted” ‘so’ … ™ ½",
    "two\nlines",
)
TITLES = ("name [x]", "ΔAUC", "95 %")


def document():
    rows = [[as_tex(name), as_tex(name), as_tex("▲ −0.7 [12.3 14.0]")] for name in NAMES]
    table = tabular(NAMES, [*map(as_tex, TITLES)], rows, rule=True)
    head = r"\documentclass{article}"
    head += r"\let\toprule\hline\let\midrule\hline\let\bottomrule\hline\begin{document}"
    return f"{head}\n{table}\\end{{document}}\n"


@given(st.text())
def test_latex_is_ascii_on_one_line_and_no_row_begins_with_an_argument(text):
    told = as_tex(text)
    assert told.isascii() and len(told.splitlines()) <= 1 and told[:1] not in ("[", "*")


@given(st.text())
def test_braces_and_dollars_are_balanced(text):
    told = as_tex(text).replace(r"\{", "").replace(r"\}", "").replace(r"\$", "")
    assert told.count("{") == told.count("}") and told.count("$") % 2 == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Δ", r"$\Delta$"),
        ("τ → 1", r"$\tau$ $\rightarrow$ 1"),
        ("−0.7", r"$-$0.7"),
        ("± ×", r"$\pm$ $\times$"),
        ("é ö ř", r"\'{e} \"{o} \v{r}"),
        ("10⁻²", r"10$^{\mbox{$-$}}$$^{\mbox{2}}$"),
        ("漢", "{}[U+6F22]"),
    ],
)
def test_signs_become_commands(text, told):
    assert as_tex(text) == told


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_pdflatex_takes_it(tmp_path):
    (tmp_path / "names.tex").write_text(document(), encoding="ascii")
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "names.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-1500:]
    assert (tmp_path / "names.pdf").stat().st_size > 1000


def test_markdown_keeps_a_name_in_its_cell():
    text = markdown_table("a | b", ["name", "AUC"], [[plain("x | [y](z)\nw"), "1"]], "said *so*")
    *_, row, _, caption = text.splitlines()
    assert row == r"| x \| \[y\](z) w | 1 |" and caption == r"said \*so\*"
