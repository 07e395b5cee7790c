"""A backbone may be named in a spec as papers, OpenAI and open_clip name it; records keep one name of it."""

import pytest

from openworld.evaluations import DynamicSpec, RecognitionSpec
from openworld.evaluations.entries import DecompositionSpec, LearnerSpec, ReferenceSpec
from openworld.evaluations.generalisation.spec import GeneralisationSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.ood.model_entries import JudgedSpec
from openworld.reproduction.settings import ReproductionSetup

ZERO_SHOT = (LearnerSpec("zero-shot"),)
SPECS = {
    "recognition": lambda name: RecognitionSpec(ZERO_SHOT, backbone=name),
    "dynamic": lambda name: DynamicSpec(ZERO_SHOT, backbone=name),
    "generalisation": lambda name: GeneralisationSpec(
        ZERO_SHOT, variants=(DatasetSpec("emoji-concepts", "sketch"),), backbone=name
    ),
    "reference": lambda name: ReferenceSpec("CLIP", backbone=name),
    "judged": lambda name: JudgedSpec(backbone=name),
    "decomposition": lambda name: DecompositionSpec(backbone=name),
    "reproduce": lambda name: ReproductionSetup("data", backbone=name),
}


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("name", ["ViT-B/16", "ViT-B-16/openai", "openai/clip-vit-base-patch16"])
def test_one_model_has_one_name(spec, name):
    assert SPECS[spec](name).backbone == "openai/clip-vit-base-patch16"
