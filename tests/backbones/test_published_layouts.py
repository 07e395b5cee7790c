"""Every layout in which weights are published: the exact files, loaded, and features equal to the reference.

`python tests/backbones/test_published_layouts.py` prints the table.
"""

import sys
import tempfile
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).parent))

from published_layouts import LAYOUTS, PICTURE, SENTENCES, Reference, checkpoint  # noqa: E402

from openworld import backbones  # noqa: E402


def largest_differences(model, reference: Reference) -> tuple[float, float]:
    """Of a coordinate of the normalised embeddings: of pictures, of sentences."""
    with torch.no_grad():
        images = model.encode_image(model.preprocess(PICTURE)[None])
        texts = model.encode_text(SENTENCES)
    pairs = ((images, reference.image), (texts, reference.text))
    return tuple(float((F.normalize(a, dim=-1) - F.normalize(b, dim=-1)).abs().max()) for a, b in pairs)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_features_equal_those_of_the_model_that_was_published(layout, tmp_path):
    reference = LAYOUTS[layout](tmp_path)
    model = backbones.load(checkpoint(tmp_path))
    assert max(largest_differences(model, reference)) < 1e-5
    assert model.dtype == torch.float32 and not model.training


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_list_of_needed_files_calls_a_published_file_set_complete(layout, tmp_path):
    LAYOUTS[layout](tmp_path)
    assert any(one.complete for one in backbones.needed_files(checkpoint(tmp_path)))


def table() -> str:
    rows = ["| layout | files | loaded | largest difference, image | text |", "|---|---|---|---|---|"]
    for layout, write in LAYOUTS.items():
        with tempfile.TemporaryDirectory() as folder:
            reference = write(Path(folder))
            model = backbones.load(checkpoint(Path(folder)))
            files = ", ".join(sorted(path.name for path in Path(folder).iterdir()))
            image, text = largest_differences(model, reference)
            rows.append(f"| {layout} | {files} | yes | {image:.1e} | {text:.1e} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
