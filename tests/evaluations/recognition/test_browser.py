"""The page in a real browser: no complaint on the console, sorting, picking and copying work, strangers stay out."""

import base64
import hashlib
import re
import shutil
import subprocess

import pytest

from openworld.evaluations.finished_runs import read_report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync --enable-logging=stderr"
SILENT = "--disable-background-networking --disable-component-update --virtual-time-budget=3000 --dump-dom"
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium found: the page is not tried in a browser")


@pytest.fixture(scope="module")
def page(small_run, tmp_path_factory):
    return read_report(small_run).write(tmp_path_factory.mktemp("page") / "page.html").read_text(encoding="utf-8")


@pytest.fixture
def visit(page, tmp_path):
    """A function that opens the page, lets a script act on it, and returns the document and the console's lines."""

    def go(script=""):
        known = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        text = page.replace("script-src '", f"script-src 'sha256-{known}' '")  # the policy lets no stranger in
        (tmp_path / "page.html").write_text(
            text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8"
        )
        flags = [*QUIET.split(), *SILENT.split(), f"--user-data-dir={tmp_path / 'profile'}"]
        address = (tmp_path / "page.html").as_uri()
        done = subprocess.run([CHROMIUM, *flags, address], capture_output=True, text=True, timeout=600)
        return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]

    return go


def test_the_console_stays_silent_and_everything_is_there(visit, page):
    document, console = visit()
    assert console == []
    assert document.count('role="img"') == page.count('role="img"') > 6 and document.count("<table") > 2
    assert "<script>alert" not in document


def test_a_stranger_script_is_refused_by_the_policy(visit):
    _, console = visit("</script><script>document.title = 'taken'")
    assert any("Content Security Policy" in line for line in console)


def test_headers_are_buttons_that_sort(visit, page):
    click = "document.querySelectorAll('#numbers thead button')[1].click();"
    ascending = sorted(values(page))
    assert sorted_rows(visit(click)[0]) == ("descending", ascending[::-1])
    assert sorted_rows(visit(click * 2)[0]) == ("ascending", ascending)


def test_a_learner_is_picked_out_of_every_figure(visit):
    document, console = visit("document.querySelector('[data-picks=GMoP]').click();")
    chosen = re.findall(
        r'class="[^"]*\bchosen\b[^"]*" data-learner="([^"]*)"|data-learner="([^"]*)" class="chosen"', document
    )
    assert console == [] and {name for pair in chosen for name in pair if name} == {"GMoP"}
    assert '<body class="picked">' in document


def test_a_table_is_copied_as_text(visit):
    document, _ = visit("document.body.dataset.copied = asText(document.getElementById('numbers'));")
    copied = re.search(r'data-copied="([^"]*)"', document)[1]
    assert copied.splitlines()[0].split("\t")[:3] == ["learner", "OpenworldAUC", "HM"]
    assert len(copied.splitlines()) == 5 and "6656" in copied


def test_images_are_filtered_by_what_they_are_and_by_their_score(visit):
    choose = """
      const filter = document.querySelector(".filter"), select = filter.querySelector("select");
      const tell = (what) => filter.dispatchEvent(new Event("input", { bubbles: true }));
      const images = [...filter.closest(".album").querySelectorAll("li")];
      const shown = () => images.filter((image) => !image.hidden);
      const tag = (image) => JSON.parse(image.dataset.tags)[select.dataset.tag];
            select.value = select.options[1].value; tell();
      const chosen = shown(), fits = chosen.every((image) => tag(image) === select.value);
      const least = filter.querySelector("input");
      least.valueAsNumber = Math.max(...chosen.map((image) => Number(image.dataset.score))); tell();
      const counts = [images.length, chosen.length, fits, shown().length];
      document.body.dataset.filtered = [...counts, filter.innerText].join("; ");
    """
    document, console = visit(choose)
    everything, chosen, fits, highest, told = re.search(r'data-filtered="([^"]*)"', document)[1].split("; ")
    assert console == [] and int(everything) > int(chosen) > int(highest) >= 1 and fits == "true"
    assert f"{highest} of {everything} images" in told


def values(document):
    table = re.search(r'<table id="numbers">.*?</table>', document, re.S)[0]
    return [float(value) for value in re.findall(r'class="(?:leads )?headline"[^>]*>([\d.]+)<', table)]


def sorted_rows(document):
    return re.search(r"<th[^>]*aria-sort=\"(\w+)\"", document)[1], values(document)
