"""The table of training steps has a row for what trains, and its ways give the same gradients."""

import sys
from unittest.mock import patch

import pytest
from steps import main, step_of

from openworld import backbones
from openworld.backbones import packed_sentences
from openworld.learners import LEARNERS

NAMES = ("owl", "golden retriever", "traffic light", "lamp", "mountain bike", "cat")


@pytest.mark.slow
def test_the_table(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["steps.py", "--methods", "zero-shot,KgCoOp", "--repeats", "1"])
    main()
    head, row = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "learner" and row.split()[:2] == ["KgCoOp", "128"] and row.split()[6] == "600"


@pytest.mark.parametrize("name", ["CoOp", "GMoP"])
def test_a_bucket_for_each_length_gives_the_same_gradients(name):
    clip, learner = backbones.load("embedded"), LEARNERS[name]()
    ours = step_of(clip, learner, NAMES)()
    with patch.object(packed_sentences, "SPARE", 0):
        theirs = step_of(clip, learner, NAMES)()
    for one, other in zip(ours, theirs, strict=True):
        assert (one - other).abs().max() <= 1e-4 * other.abs().max()
