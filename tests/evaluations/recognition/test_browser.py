"""The page in a real browser: no complaint on the console; sorting, picking, filtering and copying work."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
from urllib.parse import unquote

import pytest

from openworld.evaluations.finished_runs import read_report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync --enable-logging=stderr"
FLAGS += " --disable-background-networking --disable-component-update --virtual-time-budget=3000 --dump-dom"
VISIT = """
const order = () => [...document.querySelectorAll("#numbers td.headline")].map((cell) => parseFloat(cell.textContent));
const head = document.querySelectorAll("#numbers thead button")[1];
const seen = { copied: asText(document.getElementById("numbers")) };
head.click(); seen.falling = order(); head.click(); seen.rising = order();
document.querySelector("[data-picks=GMoP]").click();
document.querySelector("[data-picks=CoOp]").focus();

const filter = document.querySelector(".filter"), select = filter.querySelector("select");
const tell = () => filter.dispatchEvent(new Event("input", { bubbles: true }));
const images = [...filter.closest(".album").querySelectorAll("li")];
const shown = () => images.filter((image) => !image.hidden);
select.value = select.options[1].value; tell();
const chosen = shown();
seen.fits = chosen.every((image) => JSON.parse(image.dataset.tags)[select.dataset.tag] === select.value);
filter.querySelector("input").valueAsNumber = Math.max(...chosen.map((image) => Number(image.dataset.score))); tell();
seen.counts = [images.length, chosen.length, shown().length]; seen.told = filter.innerText;
document.body.dataset.seen = encodeURIComponent(JSON.stringify(seen));
"""


def test_what_a_reader_does_on_the_page(small_run, tmp_path):
    page = read_report(small_run).html()
    digest = base64.b64encode(hashlib.sha256(VISIT.encode()).digest()).decode()
    page = page.replace("script-src '", f"script-src 'sha256-{digest}' '")  # the policy lets no stranger in
    document, console = visit(page.replace("</body>", f"<script>{VISIT}</script></body>"), tmp_path)
    assert console == [] and "<script>alert" not in document and document.count("<table") > 2
    assert document.count('role="img"') == page.count('role="img"') > 6
    seen = json.loads(unquote(re.search(r'data-seen="([^"]*)"', document)[1]))

    assert seen["rising"] == sorted(seen["rising"]) == seen["falling"][::-1] and len(seen["rising"]) >= 4
    rows = [line.split("\t") for line in seen["copied"].splitlines()]
    assert rows[0][:3] == ["learner", "OpenworldAUC", "HM"] and len(rows) == 5 and "6656" in seen["copied"]
    assert marked(document, "chosen") == {"GMoP"} and marked(document, "pointed") == {"CoOp"}
    assert re.search(r'<body class="[^"]*\bpicked\b', document)
    everything, chosen, highest = seen["counts"]
    assert everything > chosen > highest >= 1 and seen["fits"] and f"{highest} of {everything} images" in seen["told"]


def test_a_stranger_script_is_refused_by_the_policy(small_run, tmp_path):
    page = read_report(small_run).html().replace("</body>", "<script>document.title = 'taken'</script></body>")
    _, console = visit(page, tmp_path)
    assert any("Content Security Policy" in line for line in console)


def visit(page, folder):
    """The document after its scripts, and the lines of the console."""
    if CHROMIUM is None:
        pytest.skip("no chromium found: the page is not tried in a browser")
    (folder / "page.html").write_text(page, encoding="utf-8")
    command = [CHROMIUM, *FLAGS.split(), f"--user-data-dir={folder / 'profile'}", (folder / "page.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def marked(document, mark):
    """The learners whose lines and dots have a class."""
    tags = re.findall(r"<[^>]*data-learner=[^>]*>", document)
    return {re.search(r'data-learner="([^"]*)"', tag)[1] for tag in tags if re.search(rf'class="[^"]*\b{mark}\b', tag)}
