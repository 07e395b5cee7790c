"""Images of OOD benchmarks: those of `shapes`, and the same in inverted colours."""

import pytest
from PIL import Image, ImageOps


@pytest.fixture(scope="session")
def places(few_shapes, tmp_path_factory):
    """Two folders of the same shapes: in distribution; and others, negatives of them, by other names."""
    other = tmp_path_factory.mktemp("others")
    for file in few_shapes.glob("*/*/*.png"):
        target = other / file.relative_to(few_shapes)
        target.parent.mkdir(parents=True, exist_ok=True)
        ImageOps.invert(Image.open(file, formats=("PNG",)).convert("RGB")).save(target)
    return few_shapes, other
