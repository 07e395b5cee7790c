"""Which class names a run's audit looks at, protocol by protocol."""

import pytest
from PIL import Image

from openworld.core.errors import OpenworldError
from openworld.evaluations import DynamicSpec
from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.generalisation.spec import GeneralisationSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.running import class_lists, require_data

ZERO_SHOT = (LearnerSpec("zero-shot"),)


@pytest.fixture
def folder(tmp_path):
    """A function that makes an image folder of some classes and gives its entry in a spec."""

    def ask(name, *classes):
        for one in classes:
            (tmp_path / name / "test" / one).mkdir(parents=True)
            Image.new("RGB", (2, 2)).save(tmp_path / name / "test" / one / "1.png")
        return DatasetSpec(str(tmp_path / name))

    return ask


def test_generalisation_leaves_out_what_the_run_leaves_out(folder):
    source = folder("source", "a hen", "cat", "dog", "owl")
    variant, named_alike = folder("variant", "Cat's"), folder("alike", "dog")
    other = folder("other", "cats", "cow", "dog")
    found = {
        cast.title: cast
        for cast in class_lists(
            GeneralisationSpec(ZERO_SHOT, source=source, variants=(variant, named_alike), others=(other,))
        )
    }
    assert set(found) == {str(source), str(variant), str(other)}  # a variant under the source's names adds none
    assert found[str(other)].names == ("cow", "dog")  # "dog" is of the source's new half
    assert found[str(other)].against == {str(source): ("a hen", "cat")} and found[str(other)].base_count == 0


def test_dynamic_scenarios_meet_only_those_that_they_play_with(folder):
    source, other = folder("source", "cat", "dog"), folder("other", "DOG", "hen")
    shared = {"source": source, "others": (other,), "variants": (source,), "datasets": (DatasetSpec("emoji-groups"),)}
    found = class_lists(DynamicSpec(ZERO_SHOT, **shared))
    assert [(cast.title, cast.base_count) for cast in found] == [
        ("emoji-groups, twemoji", 0),
        (str(source), 2),
        (str(other), 0),
    ]
    assert found[2].against == {str(source): ("cat",)}  # the source's dog is left out there
    alone = class_lists(DynamicSpec(ZERO_SHOT, scenarios=("emerging-classes",), **shared))
    assert [cast.dataset for cast in alone] == ["emoji-groups"]


def test_all_missing_data_sets_are_named_at_once(tmp_path):
    spec = DynamicSpec(ZERO_SHOT, datasets=(DatasetSpec("dtd"),), variants=(DatasetSpec("imagenet-r"),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENWORLD_DATA", str(tmp_path))
        with pytest.raises(
            OpenworldError, match=r"2 of 2 data sets.*\n- dtd: .*\n- imagenet-r: .*\n.* dtd imagenet-r --root"
        ):
            require_data(spec)
