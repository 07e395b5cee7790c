import pytest

from openworld.core.errors import OpenworldError
from openworld.datasets import DATASETS, templates

TABLES = (templates.TEMPLATES, templates.KGCOOP, templates.PROGRAD)
LISTS = (templates.ENSEMBLE, templates.EMOJI_ENSEMBLE, templates.PROMPTSRC)


def test_every_data_set_has_a_sentence_with_one_place_for_the_name():
    assert set(DATASETS) <= set(templates.TEMPLATES)
    for sentences in (*(table.values() for table in TABLES), *LISTS):
        assert all(sentence.count("{}") == 1 for sentence in sentences)
    assert [len(sentences) for sentences in LISTS] == [7, 9, 60]
    assert all(len(set(sentences)) == len(sentences) for sentences in LISTS)


def test_teachers_differ_where_the_papers_say_so():
    differ = [name for name, own in templates.TEMPLATES.items() if templates.KGCOOP[name] != own]
    assert differ == ["dtd"]
    assert sum(templates.PROGRAD[name] != own for name, own in templates.TEMPLATES.items()) == 5


def test_names_are_put_in_as_they_are():
    assert templates.fill("{} texture.", ["a_{}_b", "x"]) == ["a {} b texture.", "x texture."]
    for template in ("a photo.", "{} and {}."):
        with pytest.raises(OpenworldError, match="once"):
            templates.fill(template, ["cat"])


def test_the_ensemble_adds_the_own_sentence_except_on_imagenet():
    assert templates.ensemble("imagenet") == templates.ENSEMBLE
    assert templates.ensemble("my-own")[7:] == ("a photo of a {}.",)
    assert templates.ensemble("emoji-concepts") == templates.EMOJI_ENSEMBLE
