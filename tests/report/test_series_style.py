"""Looks: told apart by every reader, seen on both backgrounds."""

from itertools import combinations

import numpy as np
import pytest

from openworld.report.series_style import GREY, HUES, series_styles, style_sheet

# Severe forms after Machado, Oliveira and Fernandes (2009), on linear RGB.
PROTANOPIA = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
DEUTERANOPIA = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
EYES = {"normal": np.eye(3), "protanope": np.array(PROTANOPIA), "deuteranope": np.array(DEUTERANOPIA)}
# OKLab (Ottosson, 2020).
TO_CONES = np.array([[0.41222, 0.53633, 0.05145], [0.21190, 0.68070, 0.10740], [0.08830, 0.28172, 0.62998]])
TO_LAB = np.array([[0.21045, 0.79362, -0.00407], [1.97800, -2.42859, 0.45059], [0.02590, 0.78277, -0.80868]])


def linear(colour):
    channels = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def contrast(colour, ground):
    bright, dark = sorted((linear(one) @ [0.2126, 0.7152, 0.0722] for one in (colour, ground)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def test_a_look_is_one_of_a_kind_for_many_learners():
    chosen = series_styles([f"learner {number}" for number in range(24)])
    assert len({(style.light, style.dash, style.marker) for style in chosen.values()}) == 24
    assert len({style.light for style in list(chosen.values())[:12]}) == 12


def test_the_untuned_are_grey_and_leave_the_hues_to_the_others():
    chosen = series_styles(["zero-shot", "CoOp", "ensemble"], ["zero-shot", "ensemble"])
    assert chosen["zero-shot"].light == chosen["ensemble"].light == GREY[0] and chosen["CoOp"].light == HUES[0][0]
    assert chosen["zero-shot"].marker != chosen["ensemble"].marker


@pytest.mark.parametrize("pair", [*HUES, GREY])
def test_marks_stand_out_on_both_backgrounds(pair):
    assert contrast(pair[0], "#ffffff") >= 3 and contrast(pair[1], "#15171a") >= 3


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("side", [0, 1])
def test_hues_stay_apart_for_the_colour_blind(eyes, side):
    seen = [np.clip(EYES[eyes] @ linear(pair[side]), 0, 1) for pair in (*HUES, GREY)]
    lab = [TO_LAB @ np.cbrt(TO_CONES @ one) for one in seen]
    assert min(np.linalg.norm(one - other) for one, other in combinations(lab, 2)) > 0.078


def test_the_style_sheet_sets_both_schemes():
    css = style_sheet(series_styles(["CoOp"]).values())
    assert css == ".c0{--ink:#0870b8}@media screen and (prefers-color-scheme:dark){.c0{--ink:#44a2e7}}"
