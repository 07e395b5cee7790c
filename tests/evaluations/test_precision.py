"""Frozen towers in half precision and TF32, as a setting of the run: in every key, near float32, prompts in float32."""

import functools
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load as load_tensors

from openworld import OpenworldError
from openworld.backbones.devices import DTYPES, allow_tf32
from openworld.evaluations import RecognitionSpec
from openworld.evaluations.recognition.evaluation import EVALUATION
from openworld.evaluations.runtime import Machine
from openworld.runs import read_spec

FEW = {"schedule": {"epochs": 1}}
LEARNERS = {"zero-shot": {}, "MaPLe": {"depth": 2, **FEW}}  # embeddings; pixels, through the prompted image tower


@pytest.fixture(autouse=True)
def as_before():
    yield
    allow_tf32(False)


@pytest.fixture(scope="module")
def spec(few_shapes):
    learners = [{"learner": name, "settings": settings} for name, settings in LEARNERS.items()]
    given = {"dataset": str(few_shapes), "learners": learners, "seeds": [1], "shots": 2, "views": 1}
    return lambda **changed: read_spec(given | {"keep_validation": False} | changed, RecognitionSpec)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return str(tmp_path_factory.mktemp("cache"))


def planned(spec, precision, cache):
    machine = Machine(cache=cache, precision=precision)
    return {unit.name: unit for unit in EVALUATION.units(spec(precision=precision), machine)}


@pytest.fixture(scope="module")
def ran(spec, cache):
    """A function that gives what a learner's unit makes in a precision, computed once."""
    return functools.cache(lambda precision, name: planned(spec, precision, cache)[f"{name}, seed 1"].run())


def test_the_precision_is_in_every_key_and_float32_as_if_there_were_none(spec, cache):
    keys = {name: [one.key for one in planned(spec, name, cache).values()] for name in DTYPES}
    assert len({key for each in keys.values() for key in each}) == len(DTYPES) * len(LEARNERS)
    unasked = EVALUATION.units(spec(), Machine(cache=cache))
    assert [one.key for one in unasked] == keys["float32"] and "precision" not in unasked[0].inputs


def test_features_of_every_precision_are_kept_apart(ran, cache):
    for precision in DTYPES:
        ran(precision, "zero-shot")
    manifests = [json.loads(path.read_bytes()) for path in Path(cache).rglob("manifest.json")]
    folders = Counter(f"{one['images']} {one['encoding']}" for one in manifests)
    assert sorted(folders.values())[-2:] == [len(DTYPES)] * 2  # shots and tests


CASES = [("zero-shot", "tf32", 2e-2), ("zero-shot", "float16", 0.1), *((name, "bfloat16", 0.5) for name in LEARNERS)]


@pytest.mark.parametrize(("learner", "precision", "tolerance"), CASES)
def test_logits_are_near_those_in_float32_and_what_is_learned_is_float32(ran, learner, precision, tolerance):
    exact, other = ran("float32", learner), ran(precision, learner)
    ours, theirs = (np.asarray(one.outputs["images"]["score"], np.float64) for one in (exact, other))
    assert np.isfinite(theirs).all() and np.abs(ours - theirs).max() < tolerance
    tensors = load_tensors(other.attachments["learner/parameters.safetensors"])
    assert {tensor.dtype for tensor in tensors.values()} <= {torch.float32}
    told = [json.loads(one.attachments["learner/learner.json"]).get("precision") for one in (exact, other)]
    assert told == [None, None if precision == "tf32" else precision]


def test_products_are_rounded_where_the_run_says_so_and_nowhere_else():
    Machine(precision="tf32").backbone("embedded")
    assert torch.get_float32_matmul_precision() == "high" and torch.backends.cudnn.allow_tf32
    Machine(precision="float32").backbone("embedded")
    assert torch.get_float32_matmul_precision() == "highest" and not torch.backends.cudnn.allow_tf32


def test_a_unit_is_not_computed_in_another_precision_than_it_was_planned_for(spec, cache):
    unit = planned(spec, "tf32", cache)["zero-shot, seed 1"]
    machine = unit.resources["machine"] | {"precision": "float32"}
    with pytest.raises(OpenworldError, match="precision changed"):
        replace(unit, resources={"machine": machine}).run()
