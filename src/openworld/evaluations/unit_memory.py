"""How many units share a GPU: as many as its free memory holds.

A unit is one process with one backbone. On a GPU much of its time passes in starting small kernels, so that several
units side by side finish sooner. What a unit needs is an estimate; what CUDA and its libraries take is a guess.
Of ViT-B/16 in float32 it is 1.1 to 1.7 times (KgCoOp with 200 names: 2.1 times) what eleven learners took on a CPU.
"""

import os
from collections.abc import Callable, Iterable, Sequence

import torch

from openworld.backbones import TwoTowerConfig
from openworld.backbones.bounded import ROWS
from openworld.backbones.foreign import is_foreign
from openworld.backbones.precision import DTYPES
from openworld.evaluations import evaluation_of
from openworld.evaluations.learning_units import LearningUnit, units_of
from openworld.evaluations.runtime import shape
from openworld.learners.engine.fitted import schedules_of

MOST_UNITS = 4  # on one GPU, whatever its memory: they take turns there

_CONTEXT = 2**30  # bytes in a process before any tensor
_VALUES_PER_ROW = 12  # kept for the backward pass, in multiples of the width, in every block
_TOKENS = 12  # rows of a prompted name, its own copy of a learned context included


def count_units(devices: Sequence[str], needed: Callable[[], int | None]) -> int:
    """How many units are worked on at a time: one per core, on GPUs as many as their free memory holds.

    Args:
        devices: of `find_devices`.
        needed: called for GPUs: bytes of a unit; None where nobody knows, for one unit on each GPU.
    """
    cores = os.cpu_count() or 1
    if devices[0] == "cpu":
        return cores
    known = needed() if devices[0].startswith("cuda") else None
    if known is None:
        return len(devices)
    free = min(torch.cuda.mem_get_info(device)[0] for device in devices)
    each = min(max(free // known, 1), MOST_UNITS)
    return max(min(each * len(devices), cores), len(devices))


def needed_by(specs: Sequence) -> int | None:
    """Bytes of GPU memory of the largest unit of some runs; None where one is not made of learners or not run by us."""
    if not all(evaluation_of(spec).tunings and not is_foreign(spec.backbone) for spec in specs):
        return None
    return max(
        unit_bytes(shape(spec.backbone), units_of(spec), itemsize=DTYPES[spec.precision].itemsize) for spec in specs
    )


def unit_bytes(config: TwoTowerConfig, units: Iterable[LearningUnit], *, itemsize: int = 4) -> int:
    """An estimate of the GPU memory that the largest of some units needs, with room to spare.

    Counted are what CUDA takes, the weights, and what the backward pass of one training step keeps: of the text tower
    for every name, at most `ROWS` rows at a time, and of the image tower where a learner runs it.

    Args:
        config: of the backbone.
        units: what they are tuned on.
        itemsize: bytes of a number in the towers, 4 or 2.
    """
    towers = [config.text, config.image]
    weights = sum(tower.layers * tower.width * (4 * tower.width + 2 * tower.mlp_width) for tower in towers)
    weights += config.text.width * config.text.vocabulary
    text, image = (_VALUES_PER_ROW * tower.layers * tower.width for tower in towers)
    numbers = []
    for unit in units:
        names, images = min(_TOKENS * unit.classes, ROWS) * text, 0
        if unit.learner.consumes == "pixels":
            batch = max((schedule.batch_size for schedule in schedules_of(unit.learner)), default=1)
            images = batch * (config.image.grid**2 + 1) * image
        # Twice, for a second pass in the same step (frozen sentences, further prompts) and for what goes on meanwhile.
        numbers.append(weights + 2 * (names + images))
    return _CONTEXT + itemsize * max(numbers, default=weights)
