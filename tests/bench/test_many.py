"""The fast forms that the bench times give the numbers of the plain ones."""

import many
import pytest


@pytest.mark.parametrize(
    ("part", "given", "rows", "most"),
    [(many.models, (6,), 2, 0.0), (many.classes, (60, 20), 1, 1e-9), (many.large_images, (48, 8), 1, 1e-4)],
)
def test_plain_and_fast_forms_agree(part, given, rows, most):
    found = part(*given)
    assert len(found) == rows and all(off <= most for *_, off in found)
