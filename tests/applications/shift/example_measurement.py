"""A measured shift that nobody measured: 3 x 4 cells, two looks, three concepts."""

from dataclasses import replace

from openworld.applications.shift.shift_measurement import (
    ExampleImage,
    ImageGroup,
    MeasuredSet,
    ShiftAxis,
    ShiftMeasurement,
)

NASTY = "<script>alert(1)</script>"
DOT = "data:image/png;base64,iVBORw0KGgo="

MEANING = ShiftAxis((0.2, 0.3, 0.4), (25, 3, 0, 22), 0.35, 0.1, 0.25, 0.5)
LOOKS = ShiftAxis((0.1, 0.2), (30, 16, 4), 0.08, 0.05, 0.3, 0.04)
FOUND = ShiftMeasurement(
    reference=MeasuredSet("known", 1200, 3),
    tests=(MeasuredSet("new", 30, 3), MeasuredSet("grey", 20, 3, unreadable=1)),
    backbone="small",
    k=10,
    axes={"semantic": MEANING, "covariate": LOOKS},
    far={"neither": 24, "semantic": 24, "covariate": 1, "both": 1},
    cells=((20, 0, 0, 10), (5, 3, 0, 8), (0, 0, 0, 4)),
    least=10,
    concepts=(
        ImageGroup("owl", 20, 0.6, 0.1, 0.95, 0.0),
        ImageGroup(NASTY, 20, 0.3, 0.05, 0.55, 0.05),
        ImageGroup("cat", 10, 0.1, 0.2, 0.0, 0.1),
    ),
    looks=(ImageGroup("grey", 20, 0.4, 0.1, 0.6, 0.3), ImageGroup("new", 30, 0.3, 0.05, 0.4, 0.0)),
    examples=(
        *(ExampleImage("cell", "owl, new", (0, 0), 0.1, 0.05, DOT) for _ in range(4)),
        ExampleImage("cell", "cat, grey", (2, 3), 0.7, 0.3, DOT),
        ExampleImage("semantic", NASTY, (2, 3), 0.7, 0.3, DOT),
        ExampleImage("reference", "owl", (0, 0), 0.0, 0.0, DOT),
    ),
    warnings=("something is odd",),
    limits=("It sees little.",),
    made={"command": "openworld shift"},
)


def axes(**changes):
    """The same result with other axes: {half: {field: value}}."""
    return replace(FOUND, axes={half: replace(axis, **changes.get(half, {})) for half, axis in FOUND.axes.items()})
