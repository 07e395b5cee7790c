"""Time and memory of one call, on a CPU or a GPU."""

import gc
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch.autograd.profiler import profile


def seconds(run: Callable[[], object], device: str) -> float:
    """Processor time on a CPU, so that a busy machine slows no side's figure more than another's; on a GPU, elapsed."""
    gc.collect()
    on_gpu = device.startswith("cuda")
    clock = time.perf_counter if on_gpu else time.process_time
    started = clock()
    run()
    if on_gpu:
        torch.cuda.synchronize()
    return clock() - started


def peak_bytes(run: Callable[[], object], device: str) -> tuple[object, int]:
    """What `run` returns, and the most bytes of tensors that lived at a time beyond those there before."""
    gc.collect()
    if device.startswith("cuda"):
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        result = run()
        return result, torch.cuda.max_memory_allocated() - before
    with _quiet(), profile(profile_memory=True) as record:
        result = run()
    events = [event for event in record.kineto_results.events() if event.name() == "[memory]"]
    now = most = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        now += event.nbytes()
        most = max(most, now)
    return result, most


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the error stream, on which the profiler announces every start and stop whatever its settings."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
