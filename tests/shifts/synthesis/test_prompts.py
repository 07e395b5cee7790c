"""The table of styles and the prompts made from it."""

import json

import pytest

from openworld.core.errors import OpenworldError
from openworld.own_data.synthesize.command import find_styles
from openworld.shifts import write_texts
from openworld.shifts.synthesis import Prompts, PromptStyle, prompt_styles, published_styles


def test_the_papers_styles_stand_at_their_published_numbers():
    names = [style.name for style in prompt_styles()]
    assert len(names) == len(set(names)) == 51
    places = {5: "impressionist", 48: "iphone photographic", 45: "film noir", 33: "monochrome", 47: "hdr"}
    places |= {38: "flat papercut", 35: "space", 42: "papercut shadow box", 36: "stained glass", 26: "grunge"}
    assert {place: names[place] for place in places} == places
    assert (names[0], names[50]) == ("art nouveau", "tilt-shift")


def test_prompts_are_in_the_order_of_written_texts(prompts):
    assert prompts.texts(0, 99) == write_texts(prompts.labels, [style.prompt for style in prompts.styles])
    assert prompts.labels[1] == "sea lion"
    assert prompts.parts(7) == (1, 3)
    assert prompts.texts(7, 8) == [prompts.text(7)]


GROUPS = {"3d-model": "sai-3d-model", "hdr": "photo-hdr", "gta": "game-GTA", "tilt-shift": "photo-tilt-shift"}


def sdxl_file(path, names):
    """As the templates of SDXL lie around: other groups, other order, styles that the paper does not have."""
    entries = [{"name": "base", "prompt": "{prompt}", "negative_prompt": ""}]
    for name in reversed(names):
        title = GROUPS.get(name, f"artstyle-{name.title()}")
        entries.append({"name": title, "prompt": f"{name} style {{prompt}} . fine", "negative_prompt": f"no {name}"})
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


def test_templates_of_sdxl_are_read_as_they_are(tmp_path):
    path = sdxl_file(tmp_path / "sdxl_styles.json", ["pop art"])
    base, pop_art = prompt_styles(path)
    assert base == PromptStyle("base", "{}") and pop_art.prompt == "pop art style {} . fine"
    assert (pop_art.name, pop_art.negative) == ("artstyle-Pop Art", "no pop art")


def test_the_papers_styles_with_the_templates_of_sdxl(tmp_path):
    names = [style.name for style in prompt_styles()]
    found = published_styles(sdxl_file(tmp_path / "all.json", names))
    assert [style.name for style in found] == names
    assert [style.prompt for style in found] == [f"{name} style {{}} . fine" for name in names]
    assert find_styles(f"syn-is:{tmp_path / 'all.json'}", "sdxl-turbo") == found
    assert len(find_styles(str(tmp_path / "all.json"), "sdxl-turbo")) == 52
    with pytest.raises(OpenworldError, match="no template of 2 of the paper's 51 styles, such as gta, macabre"):
        published_styles(sdxl_file(tmp_path / "few.json", [name for name in names if name not in ("gta", "macabre")]))


def test_a_table_of_ones_own(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('[[style]]\nname = "mosaic"\nprompt = "a mosaic of a {}"\n')
    assert prompt_styles(path) == (PromptStyle("mosaic", "a mosaic of a {}"),)
    with pytest.raises(OpenworldError, match=r"there is no file .*missing\.toml"):
        prompt_styles(tmp_path / "missing.toml")


def test_what_is_no_table_is_refused(tmp_path):
    tables = ("mine.toml", "is no table of styles", ("", "[[style]]\nname = 'x'", "no toml"))
    lists = ("mine.json", "is no list of SDXL's styles", ("", '["a"]', '[{"name": "x", "prompt": 3}]'))
    for name, words, texts in (tables, lists):
        for text in texts:
            (tmp_path / name).write_text(text, encoding="utf-8")
            with pytest.raises(OpenworldError, match=words):
                prompt_styles(tmp_path / name)


def test_wrong_names_are_refused(prompts):
    styles = prompts.styles
    for call, words in (
        (lambda: Prompts(("cat", "Cat"), styles), "the label 'Cat' comes twice"),
        (lambda: Prompts((), styles), "no label name"),
        (lambda: Prompts(("cat", " "), styles), "an empty label"),
        (lambda: Prompts(("cat",), (styles[0], styles[0])), "the style 'art nouveau' comes twice"),
        (lambda: PromptStyle("bare", "no place"), "must hold {} once"),
        (lambda: PromptStyle("a/b", "{}"), "without '/'"),
        (lambda: prompts.text(12), "there is no prompt 12"),
    ):
        with pytest.raises(OpenworldError, match=words):
            call()
