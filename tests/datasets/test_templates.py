import pytest

from openworld.core.errors import OpenworldError
from openworld.datasets import DATASETS, templates

TABLES = (templates.TEMPLATES, templates.KGCOOP, templates.PROGRAD)
LISTS = (templates.ENSEMBLE, templates.EMOJI_ENSEMBLE, templates.PROMPTSRC)


def test_every_sentence_has_one_place_for_the_name():
    for sentences in (*(table.values() for table in TABLES), *LISTS):
        assert all(sentence.count("{}") == 1 for sentence in sentences)


def test_every_data_set_has_a_sentence():
    assert set(DATASETS) <= set(templates.TEMPLATES)


def test_lists_are_as_long_as_published_and_without_repetition():
    assert [len(sentences) for sentences in LISTS] == [7, 9, 60]
    assert all(len(set(sentences)) == len(sentences) for sentences in LISTS)


def test_teachers_differ_where_the_papers_say_so():
    differ = [name for name, own in templates.TEMPLATES.items() if templates.KGCOOP[name] != own]
    assert differ == ["dtd"]
    assert sum(templates.PROGRAD[name] != own for name, own in templates.TEMPLATES.items()) == 5


def test_names_are_put_in_as_they_are():
    assert templates.fill("{} texture.", ["a_{}_b", "x"]) == ["a {} b texture.", "x texture."]


@pytest.mark.parametrize("template", ["a photo.", "{} and {}."])
def test_a_template_without_one_place_is_refused(template):
    with pytest.raises(OpenworldError, match="once"):
        templates.fill(template, ["cat"])


def test_the_ensemble_adds_the_own_sentence_except_on_imagenet():
    assert templates.ensemble("imagenet") == templates.ENSEMBLE
    assert templates.ensemble("my-own")[7:] == ("a photo of a {}.",)
    assert templates.ensemble("emoji-concepts") == templates.EMOJI_ENSEMBLE
