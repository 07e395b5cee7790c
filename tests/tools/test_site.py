"""What the documentation site is made with: the gallery, notebooks as pages, links that leave docs/."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import show_figures
import site_pages

import openworld as ow


def test_the_gallery_shows_the_figures_of_a_run(tmp_path):
    run = tmp_path / "run"
    ow.score({"side": ["base", "base", "new", "new"], "score": [3, 2, 1, 2.5], "correct": [1, 1, 1, 0]}, run)
    (tmp_path / "gallery").mkdir()
    page = "\n".join(show_figures.of_run(run, tmp_path))
    drawings = sorted(path.name for path in (tmp_path / "gallery").glob("*.svg"))
    assert drawings == ["run-miss-hit-1.svg", "run-points-lost-1.svg", "run-trade-off-1.svg"]
    assert all(f"(gallery/{name})" in page for name in drawings) and "`points-lost` (BarChart)" in page


def test_a_notebook_is_a_page_with_its_outputs():
    outputs = [{"output_type": "stream", "text": ["1 < 2\n"]}, {"data": {"text/html": ["<b>", "bold</b>"]}}]
    cells = [
        {"cell_type": "markdown", "source": ["# Title"]},
        {"cell_type": "code", "source": ["print(1)"], "outputs": outputs},
    ]
    page = site_pages.notebook_page(json.loads(json.dumps({"cells": cells})), "a.ipynb")
    assert page.startswith("# Title\n\n[This page as a notebook](a.ipynb)\n\n```python\nprint(1)\n```\n")
    assert '<pre class="output">1 &lt; 2\n</pre>' in page and '<div class="output"><b>bold</b></div>' in page


@pytest.mark.parametrize(
    ("page", "link", "shown"),
    [
        ("a.md", "[NOTICE](../src/NOTICE.md)", "NOTICE (`src/NOTICE.md` in the repository)"),
        ("a.md", "[examples/plug_in](../examples/plug_in)", "`examples/plug_in`"),
        ("reference/a.md", "[From Python](../python.md)", "[From Python](../python.md)"),
    ],
)
def test_a_link_out_of_the_pages_names_the_file(page, link, shown):
    where = SimpleNamespace(file=SimpleNamespace(src_uri=page))
    assert site_pages.on_page_markdown(f"See {link}.", page=where) == f"See {shown}."


@pytest.mark.parametrize(("page", "meta"), [("reference/a.md", {"search": {"boost": 0.2}}), ("a.md", {})])
def test_the_search_shows_guides_before_the_reference(page, meta):
    shown = SimpleNamespace(file=SimpleNamespace(src_uri=page), meta={})
    assert site_pages.on_page_content("text", page=shown) == "text" and shown.meta == meta
