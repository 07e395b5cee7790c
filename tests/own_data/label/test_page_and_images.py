"""The labelling page: what it holds, what it allows, and images within it or beside it."""

import base64
import hashlib
import io
import json
import re

import numpy as np
import pytest
from made_up_stream import code_of
from PIL import Image

from openworld import OpenworldError
from openworld.own_data.label.kept_plan import read_plan
from openworld.own_data.label.page import SIDE, read_images, render_page
from openworld.own_data.label.question import Names
from openworld.own_data.label.report import plan_labels, read_labels
from openworld.tables.files import scores_of

pytestmark = pytest.mark.base

ODD = '</script><img src=x onerror="alert(1)">'


def content(page):
    (text,) = re.findall(r'<script type="application/json" id="plan">(.*?)</script>', page, re.S)
    return json.loads(text)


def page_of(names, page_images=None):
    ids = [str(number) for number in range(len(names))]
    return render_page("ab12", "labels", ids, ids, names, page_images or [("", 0)] * len(ids), (("cat",), ("yak",)))


def test_the_policy_knows_its_style_and_script_and_allows_nothing_else():
    page = page_of([Names(("cat",), ("yak",))])
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert "default-src 'none'" in policy and "img-src data:;" in policy
    for kind, pattern in (("style", r"<style>(.*?)</style>"), ("script", r"<script>(.*?)</script>")):
        (text,) = re.findall(pattern, page, re.S)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not re.search(r"(src|href)=\"?(https?:)?//|@import|fetch\(|XMLHttpRequest|sendBeacon|WebSocket", page)


def test_names_of_other_people_stay_text():
    page = page_of([Names((ODD,), ("yak",))])
    assert ODD not in page and content(page)["images"][0]["options"][0]["name"] == ODD


def test_the_page_asks_what_the_worksheet_asks_and_names_no_model():
    one, two = content(page_of([Names(("cat",), ("yak",))])), content(page_of([Names(("cat", "dog"), ("yak", "yak"))]))
    codes = [option["code"] for option in one["images"][0]["options"]]
    assert codes == ["base right", "base wrong", "new right", "new wrong"]
    assert [option["key"] for option in two["images"][0]["options"]] == [1, 2, 3, 4, 6]
    assert two["images"][0]["options"][2]["not"] == ["cat", "dog"] and "models" not in two
    assert content(page_of([Names(("cat",))]))["closed"]


@pytest.fixture
def photographs(tmp_path):
    """Four images, of which one is large and one lies on its side."""
    sizes = ((1600, 900), (40, 60), (300, 200), (200, 100))
    for number, size in enumerate(sizes):
        image = Image.new("RGB", size, (40 * number, 90, 160))
        exif = image.getexif()
        exif[0x0112] = 6 if number == 2 else 1  # turned by a quarter
        image.save(tmp_path / f"{number}.jpg", exif=exif)
    return [str(tmp_path / f"{number}.jpg") for number in range(4)]


def decoded(address):
    kind, _, data = address.partition(",")
    assert kind == "data:image/jpeg;base64"
    return Image.open(io.BytesIO(base64.b64decode(data)), formats=("JPEG",))


def test_images_lie_in_the_page_upright_and_no_larger_than_needed(tmp_path, photographs):
    seen = []
    images, files = read_images(photographs, [tmp_path], lambda *done: seen.append(done))
    assert [decoded(own).size for own, _ in images] == [(SIDE, 360), (40, 60), (200, 300), (200, 100)]
    assert [width for _, width in images] == [SIDE, 40, 200, 200] and not files and len(seen) == 4


def test_too_many_images_for_a_page_lie_beside_it(tmp_path, photographs, monkeypatch):
    monkeypatch.setattr("openworld.own_data.label.page.PAGE_BYTES", 1000)
    images, files = read_images(photographs, [tmp_path], lambda *_: None)
    assert [own for own, _ in images] == [f"images/{number}.jpg" for number in (1, 2, 3, 4)] == list(files)
    page = page_of([Names(("cat",), ("yak",))] * 4, images)
    assert "img-src data: file: 'self';" in page and "data:image" not in page


def test_an_image_that_is_not_there_or_is_none_is_refused(tmp_path, photographs):
    (tmp_path / "text.png").write_text("no image")
    with pytest.raises(OpenworldError, match=r"text.png cannot be read as an image"):
        read_images([str(tmp_path / "text.png")], [tmp_path], lambda *_: None)
    with pytest.raises(OpenworldError, match="there is no image 'gone.png' of the stream .* --no-images"):
        read_images(["gone.png"], [tmp_path], lambda *_: None)
    assert read_images(["0.jpg"], [tmp_path], lambda *_: None)[0][0][0]


def test_paths_of_scores_lie_in_the_folder_that_these_name(tmp_path, photographs):
    """As `openworld estimate --out` keeps them, with paths below the folder of the images."""
    scores = {"logits": np.eye(4), "path": [f"{number}.jpg" for number in range(4)]}
    planned = plan_labels(scores_of(scores | {"images_in": str(tmp_path)}, "mine.npz"), tmp_path / "plan", n=4)
    assert sorted(width for _, width in planned.found.page_images) == sorted([SIDE, 40, 200, 200])
    assert plan_labels(scores_of(scores, "mine.npz"), tmp_path / "bare", n=4).found.page_images[0] == ("", 0)
    with pytest.raises(OpenworldError, match="images_in of mine.npz is 3, expected a folder"):
        plan_labels(scores_of(scores | {"images_in": 3}, "mine.npz"), tmp_path / "odd", n=4)


@pytest.fixture
def stream(world, photographs):
    columns = world.columns | {"image": np.array([photographs[1 + row % 3] for row in range(400)])}
    return scores_of(columns, "mine.npz")


def test_answers_as_the_page_writes_them_are_read_back_and_a_second_batch_has_its_own(
    tmp_path, world, stream, monkeypatch
):
    """The page's own data and the lines that its download has."""
    plan_labels(stream, tmp_path / "plan", n=60)
    asked = content((tmp_path / "plan" / "label.html").read_text(encoding="utf-8"))
    assert all(own["image"].startswith("data:image/jpeg") for own in asked["images"])
    batch = read_plan(tmp_path / "plan").batches[0]
    assert [own["id"] for own in asked["images"]] == list(batch.ids)
    lines = ["plan,id,answer,label,seconds"]
    for place, (own, names) in enumerate(zip(asked["images"], batch.names, strict=True)):
        code, true = code_of(names, world.truth[own["id"]]), world.truth[own["id"]]
        assert code in [option["code"] for option in own["options"]]
        lines.append(f"{asked['plan']},{own['id']},{'' if place % 2 else code},{true if place % 2 else ''},0.4")
    (tmp_path / "plan" / f"answers-{asked['plan']}.csv").write_text("\n".join(lines) + "\n")
    report = read_labels(tmp_path / "plan")
    assert report.found.counts[0] == 60
    monkeypatch.setattr("openworld.own_data.label.page.PAGE_BYTES", 1000)
    plan_labels(stream, add=tmp_path / "plan", n=12)
    asked = content((tmp_path / "plan" / "label-2.html").read_text(encoding="utf-8"))
    places = [own["image"] for own in asked["images"]]
    assert len(places) == 12 and all((tmp_path / "plan" / place).is_file() for place in places)
    assert places[0] == "images-2/01.jpg"
