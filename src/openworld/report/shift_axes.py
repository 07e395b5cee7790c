"""What reports call the two axes of measured shift; their levels count from 0, the nearest."""

AXES = {"semantic": "meaning", "covariate": "looks"}
LEVELS = {axis: f"{axis} level ({word})" for axis, word in AXES.items()}
DEGREES = {axis: f"{axis} degree ({word})" for axis, word in AXES.items()}
NEAR = "Rows: levels of looks, near at the bottom; columns: levels of meaning, near on the left"
