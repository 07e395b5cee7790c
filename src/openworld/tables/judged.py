"""Scores of a model whose accuracy is judged, with labels or without: what their columns mean.

    logits          of the model whose accuracy is estimated; or probabilities, whose logarithms are taken
    labels          true classes, numbers from 0 or class names (also called label)
    reference       similarities of a reference model to the class names
    partner...      logits of a partner model, such as partner_1; in order of the names
    seen_in_training    whether the model was trained on the image: 0, 1 (on one much like it) or 2
    embeddings      of the images, beside their scores; for signs of a shift and its likely cause
    appearance      [n, K] of the images: brightness, contrast, ...; for signs of a shift (`estimate` writes it of
    images)

A column of time stamps, or of levels, is read where it is asked for.
"""

from openworld.tables.table import Schema, TableColumn

LABELS = ("labels", "label")
MODEL = ("logits", "probabilities")
PARTNER = "partner"
SEEN = "seen_in_training"
FEATURES = "embeddings"
APPEARANCE = "appearance"
IMAGE_COLUMNS = ("id", "ids", "image", "path")
"""Say which image a row is of."""

JUDGED = Schema(
    (
        *(TableColumn(name, "matrix") for name in (*MODEL, "reference")),
        TableColumn("labels", "label", also=("label",)),
        TableColumn(SEEN, "whole"),
        TableColumn(FEATURES, "vectors"),
        TableColumn(APPEARANCE, "vectors"),
        *(TableColumn(name, "entry") for name in IMAGE_COLUMNS),
    ),
    one_of=MODEL,
    series=PARTNER,
    where="openworld estimate",
)
