"""Every public function of `openworld.shifts`, with good values of all its arguments."""

from dataclasses import fields

import numpy as np
import torch
from judging import Call, new_folder

from openworld import shifts
from openworld.shifts import LAID, PCA, Decomposition, Levels, ShiftGrid, Triplets

RNG = np.random.default_rng(0)
ROWS, KNOWN = RNG.integers(-16, 17, (12, 4)) / 8 + 0.0625, RNG.integers(-16, 17, (9, 4)) / 8 + 0.0625
TEXTS = RNG.integers(-16, 17, (5, 6, 4)) / 8 + 0.0625
LABELS, OWN = np.arange(12) % 3, np.arange(9) % 3
GROUPS = np.arange(12) // 2
DEGREES = RNG.integers(0, 64, 12) / 64
MATRIX = torch.linalg.qr(torch.tensor(RNG.normal(size=(4, 4)))).Q
HALVES = Decomposition.of_matrix(MATRIX)
FOUND = shifts.nearest(ROWS, KNOWN, 3)
SHIFTED = shifts.shift_degrees(HALVES, ROWS, KNOWN, k=3)
GRID = ShiftGrid(LABELS, OWN[LABELS], shape=(3, 3), least=1)
SCORES, RIGHT = RNG.integers(0, 8, 12) / 4, RNG.integers(0, 2, 12).astype(bool)
BASE = (SCORES[:6], RIGHT[:6])
SIDES = {"base_scores": BASE[0], "base_correct": BASE[1], "new_scores": SCORES, "new_correct": RIGHT}
SIDES |= {"base_groups": GROUPS[:6], "new_groups": GROUPS + 3}
BATCH = Triplets(*(torch.tensor(RNG.normal(size=(6, 4))).float() for _ in range(3)))
DISTANCES = shifts.triplet_distances(MATRIX.float(), BATCH)
FOLDER = new_folder()
HALVES.save(FOLDER / "halves")
SHORT = {"steps": 3, "batch_size": 4, "held_out": (0.0, 0.0), "semantic_width": 2, "whitened": 4}
SMALL = torch.tensor(TEXTS)


def of_laid(**settings):
    return LAID(**settings).fit(TEXTS, seed=0).semantic


def laid_of(texts, seed):
    return LAID(**SHORT).fit(texts, seed=seed).semantic


def pca_of(texts):
    return PCA().fit(texts).semantic


def of_pca(**settings):
    return PCA(**settings).fit(TEXTS).semantic


def halves_of(features):
    return HALVES.halves(features)


def both_sides(base_scores, base_correct, new_scores, new_correct, base_groups, new_groups):
    groups = {"base_groups": base_groups, "new_groups": new_groups}
    return shifts.open_world_by_shift((base_scores, base_correct), (new_scores, new_correct), GRID, **groups)


def same_looks(base_scores, base_correct, base_covariate, new_scores, new_correct, base_groups, new_groups):
    groups = {"base_groups": base_groups, "new_groups": new_groups}
    new = (new_scores, new_correct)
    return shifts.open_world_by_shift((base_scores, base_correct), new, GRID, base_covariate=base_covariate, **groups)


def random_of(width):
    return shifts.random_orthogonal(width, torch.Generator().manual_seed(0))


def losses_of(margin, hinge):
    return shifts.triplet_losses(DISTANCES, margin, hinge=hinge)


HALF = frozenset(
    (name, "half") for name in ("matrix", "standard", "semantic_shift", "covariate_shift")
)  # one type for all
LEADING = frozenset({("features", "two more dimensions")})  # any number of them may lead
LATER = frozenset({("engine", "unknown name"), ("engine", "empty text")})  # engines are looked up when shards are run

CALLS = {
    "Decomposition": Call(
        lambda **parts: Decomposition(**parts).halves(ROWS),
        {"semantic": HALVES.semantic, "covariate": HALVES.covariate}
        | {"semantic_centre": torch.ones(4) / 8, "covariate_centre": torch.ones(4) / 8},
        optional=frozenset({"semantic_centre", "covariate_centre"}),
    ),
    "Decomposition.of_matrix": Call(
        Decomposition.of_matrix, {"matrix": MATRIX, "semantic_width": 2, "about": {"made": "here"}}
    ),
    "Decomposition.halves": Call(halves_of, {"features": ROWS}),
    "LAID of settings": Call(
        of_laid,
        {one.name: one.default for one in fields(LAID)} | SHORT,
        optional=frozenset({"semantic_width", "whitened"}),
        left_out=frozenset({("steps", "2^62"), ("batch_size", "2^62")}),  # nobody can wait for those
    ),
    "LAID.fit": Call(laid_of, {"texts": TEXTS, "seed": 0}),
    "LAID.loss": Call(LAID().loss, {"matrix": MATRIX.float(), "batch": BATCH}, left_out=HALF),
    "Levels": Call(Levels, {"cuts": (0.25, 0.5)}, allowed=frozenset({("cuts", "list of numbers")})),
    "Levels.of": Call(Levels((0.25, 0.5)).of, {"degrees": DEGREES}),
    "Nearest.kth": Call(FOUND.kth, {"k": 2}),
    "PCA of settings": Call(of_pca, {one.name: one.default for one in fields(PCA)}),
    "PCA.fit": Call(pca_of, {"texts": TEXTS}),
    "Shards": Call(shifts.Shards, {"reference": 4, "images": 4, "engine": "local", "workers": 1}, allowed=LATER),
    "ShiftGrid": Call(ShiftGrid, {"semantic": LABELS, "covariate": OWN[LABELS], "shape": (3, 3), "least": 1}),
    "ShiftGrid.cell": Call(GRID.cell, {"covariate": 0, "semantic": 0}),
    "Triplets": Call(
        lambda **parts: shifts.triplet_distances(MATRIX.float(), Triplets(**parts)),
        {one.name: getattr(BATCH, one.name) for one in fields(BATCH)},
        left_out=HALF,
    ),
    "Whitening.of": Call(shifts.whitening(SMALL, 3).of, {"features": torch.tensor(ROWS)}, allowed=LEADING),
    "decomposed_zero_shot": Call(
        shifts.decomposed_zero_shot,
        {"decomposition": HALVES, "images": ROWS, "labels": LABELS, "classes": KNOWN[:3], "groups": GROUPS},
    ),
    "deviation": Call(shifts.deviation, {"matrix": MATRIX}),
    "equal_subsets": Call(shifts.equal_subsets, {"grid": GRID, "count": 3, "seed": 0}),
    "equal_width_levels": Call(shifts.equal_width_levels, {"degrees": DEGREES, "quantiles": (0.25, 0.75), "count": 4}),
    "farthest": Call(
        shifts.farthest,
        {"degrees": DEGREES[:2], "names": ["cat", "dog"]},
        allowed=frozenset({("names", "list of text")}),
    ),
    "load_decomposition": Call(shifts.load_decomposition, {"path": str(FOLDER / "halves")}),
    "merge_degrees": Call(shifts.merge_degrees, {"shards": [SHIFTED]}),
    "merge_nearest": Call(shifts.merge_nearest, {"parts": [FOUND], "k": 2}),
    "nearest": Call(
        shifts.nearest,
        {"queries": ROWS, "reference": KNOWN, "k": 3, "first": 0, "half": False},
    ),
    "nearest_orthogonal": Call(shifts.nearest_orthogonal, {"matrix": MATRIX}, left_out=HALF),
    "open_world_by_shift": Call(both_sides, SIDES, optional=frozenset({"base_groups", "new_groups"})),
    "open_world_by_shift of pairs": Call(
        shifts.open_world_by_shift,
        {"base": BASE, "new": (SCORES, RIGHT), "grid": GRID, "base_covariate": LABELS[:6]}
        | {"base_groups": GROUPS[:6], "new_groups": GROUPS},
    ),
    "open_world_by_shift of same looks": Call(
        same_looks,
        SIDES | {"base_covariate": LABELS[:6]},
        optional=frozenset({"base_covariate", "base_groups", "new_groups"}),
    ),
    "random_orthogonal": Call(random_of, {"width": 4}),
    "share_right": Call(shifts.share_right, {"distances": DISTANCES}),
    "shift_degrees": Call(
        shifts.shift_degrees,
        {"decomposition": HALVES, "images": ROWS, "reference": KNOWN, "k": 3, "first": 0, "half": False},
    ),
    "shift_grid": Call(
        shifts.shift_grid,
        {"degrees": SHIFTED, "semantic": Levels((0.25,)), "covariate": Levels((0.25,)), "least": 1},
    ),
    "streamed_degrees": Call(
        shifts.streamed_degrees,
        {"decomposition": HALVES, "images": ROWS, "reference": KNOWN, "k": 3, "shards": shifts.Shards(4, 4)},
    ),
    "triplet_distances": Call(
        shifts.triplet_distances, {"matrix": MATRIX.float(), "batch": BATCH, "semantic_width": 2}, left_out=HALF
    ),
    "triplet_losses": Call(losses_of, {"margin": 0.5, "hinge": True}),
    "whitening": Call(shifts.whitening, {"features": SMALL, "width": 3}),
    "write_texts": Call(
        shifts.write_texts,
        {"labels": ["cat", "dog"], "templates": ["a {}."]},
        allowed=frozenset({("labels", "list of text")}),
    ),
}
RESULTS = frozenset(
    {
        "DecomposedAccuracy",
        "Far",
        "Nearest",
        "ShiftDegrees",
        "OpenWorldByShift",
        "TripletDistances",
        "Whitening",
    }
)
"""Classes that functions return; nobody makes them by hand."""
ELSEWHERE = {
    "AppearanceEncoder": "a backbone and pixels, in tests/shifts/test_appearance.py",
    "in_looks": "images, in tests/shifts/test_appearance.py",
    "image_grid": "a backbone and images, in tests/shifts/test_appearance.py",
    "sharded_degrees": "files, in tests/shifts/test_sharding.py",
}
