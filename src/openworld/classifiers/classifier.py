"""A classifier of images that was trained on a closed set of classes: the model that is judged."""

import hashlib
import json
import os
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import nn

from openworld.backbones.preprocess import Preprocess
from openworld.core.errors import OpenworldError
from openworld.core.gpu_memory import cores_of_one_thread
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.datasets.training_images import SeenImages, hashes_of

_BATCH = 128  # images at a time
_CPU_PIXELS = 128 * 64 * 64  # of a batch on a CPU
_CHANNELS_LAST = torch.channels_last  # on a CPU up to 3.6 times as fast for our small networks


@checked
@dataclass(frozen=True, eq=False)
class Classifier:
    """A network with its class names and the way its images are prepared.

    Args:
        module: turns normalised pixels float32[B, 3, side, side] into logits float32[B, C]. It is put into evaluation
            mode, and is moved to the device it is asked on.
        classnames: C names, in the order of the logits.
        preprocess: to which size images are brought, and mean and standard deviation of each channel.
        architecture: what `build` makes the module from; any words where it does not, but then `load` cannot make it.
        history: "loss" and "accuracy" on the training images, one dict per epoch; () where it is not known.
        seen: hashes of the training images; None where they are not known.

    Raises:
        OpenworldError: fewer than two class names.
    """

    module: nn.Module
    classnames: tuple[str, ...]
    preprocess: Preprocess
    architecture: str
    history: tuple[dict[str, float], ...] = ()
    seen: SeenImages | None = None

    __repr__ = short_repr

    def __post_init__(self):
        object.__setattr__(self, "classnames", tuple(self.classnames))
        if len(self.classnames) < 2:
            raise OpenworldError(f"{self.architecture!r} has {len(self.classnames)} class name(s), expected 2 or more.")
        module = self.module.requires_grad_(False).eval()
        module.to(memory_format=_CHANNELS_LAST)  # ty: ignore[no-matching-overload]: torch's stubs do not have it alone

    @property
    def side(self) -> int:
        """Pixels along each side of what the module sees."""
        return self.preprocess.crop

    @property
    def view(self) -> tuple:
        """What `prepare` depends on: classifiers of one view can share prepared images."""
        preprocess = self.preprocess
        return preprocess.resize, preprocess.crop, preprocess.mode, preprocess.resample

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of weights, class names and preprocessing; of the module as it is when first asked."""
        described = (self.architecture, self.classnames, asdict(self.preprocess))
        digest = hashlib.sha256(json.dumps(described, sort_keys=True).encode())
        digest.update(getattr(self.module, "content", "").encode())  # of a network that lies in a file
        for name, tensor in sorted(self.module.state_dict().items()):
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)} ".encode())
            digest.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())
        return digest.hexdigest()

    def prepare(self, image: Image.Image) -> np.ndarray:
        """An image of any size, resized and cropped: uint8[3, side, side], contiguous."""
        return np.ascontiguousarray(np.asarray(self.preprocess.resize_and_crop(image)).transpose(2, 0, 1))

    def batches(
        self,
        images: Any,
        rows: np.ndarray,
        *,
        device: str | torch.device = "cpu",
        batch_size: int | None = None,
        readers: int | None = None,
    ) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Yield images of an image set as the module takes them, float32[B, 3, side, side], and their labels int64[B].

        Threads read and prepare the next batches meanwhile.

        Args:
            rows: which images, int64[n].
            batch_size: images at a time; another one may change the last bits. None: see `logits`.
            readers: threads that read; None for as many as torch may use, and beside a GPU one per core.
        """
        device = torch.device(device)
        batch_size = batch_size or self._batch_size(device)
        pixels = read_ahead(
            lambda row: self.prepare(images.image(row)),
            rows,
            (3, self.side, self.side),
            batch_size=batch_size,
            readers=readers or (torch.get_num_threads() if device.type == "cpu" else os.cpu_count() or 1),
            pinned=device.type == "cuda",
        )
        for start, batch in zip(range(0, len(rows), batch_size), pixels, strict=True):
            labels = torch.from_numpy(images.labels[rows[start : start + batch_size]])
            yield self.preprocess.scale(batch.to(device, non_blocking=True)), labels

    def logits(
        self,
        images: Any,
        *,
        device: str | torch.device = "cpu",
        batch_size: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> np.ndarray:
        """Logits of every image of an image set.

        Args:
            images: of `openworld.datasets`, N images.
            device: where the module runs. On a CPU every core that torch may use takes batches of its own, so that the
                result is the same bytes on any number of them.
            batch_size: images at a time; another one may change the last bits. None: 128, and on a CPU as many as
                have the pixels of 128 small ones (64 x 64), but a power of two.
            progress: called with (images done, images in all) after every batch.

        Returns:
            float32[N, C].

        Raises:
            OpenworldError: an image that cannot be read, logits that are not finite or not C per image.
        """

        def pixels(rows: range, spread: Callable[..., Iterator] = map) -> np.ndarray:
            return np.stack(list(spread(lambda row: self.prepare(images.image(row)), rows)))

        return self._answers(pixels, len(images), torch.device(device), batch_size, progress)

    def find_seen(self, images: Any) -> np.ndarray:
        """Which images of an image set the module was trained on: uint8[N], as `SeenImages.find` says.

        Raises:
            OpenworldError: a classifier that does not know its training images, an image that cannot be read.
        """
        if self.seen is None:
            raise OpenworldError(f"{self.architecture!r} does not know what it was trained on; train it with `train`.")
        hashes = [hashes_of(self.preprocess.resize_and_crop(images.image(row))) for row in range(len(images))]
        return self.seen.find(np.array(hashes, np.uint64).reshape(-1, 2))

    def logits_of_pixels(
        self, pixels: np.ndarray, *, device: str | torch.device = "cpu", batch_size: int | None = None
    ) -> np.ndarray:
        """The same for images that `prepare` made: uint8[N, 3, side, side] to float32[N, C]."""
        if pixels.ndim != 4 or pixels.shape[1:] != (3, self.side, self.side) or pixels.dtype != np.uint8:
            raise OpenworldError(
                f"{self.architecture!r} looks at uint8[N, 3, {self.side}, {self.side}], got {pixels.dtype} of shape "
                f"{list(pixels.shape)}; make them with `prepare`."
            )

        def given(rows: range, spread: Callable[..., Iterator] = map) -> np.ndarray:
            return pixels[rows.start : rows.stop]

        return self._answers(given, len(pixels), torch.device(device), batch_size, None)

    def _batch_size(self, device: torch.device) -> int:
        # On a CPU the C library asks the system for every activation of 128 large images anew, up to gigabytes a
        # batch, and the system fills each with zeros: that took longer than the network (5.5 of 8 s at 224 pixels).
        fitting = _CPU_PIXELS // self.side**2 if device.type == "cpu" else _BATCH
        return min(_BATCH, 1 << max(fitting.bit_length() - 1, 0))

    def _answers(self, pixels, count: int, device: torch.device, batch_size: int | None, progress) -> np.ndarray:
        """Batch by batch: `pixels(rows, spread)` gives uint8[B, 3, side, side]."""
        batch_size = batch_size or self._batch_size(device)
        self.module.to(device)
        batches = [range(start, min(start + batch_size, count)) for start in range(0, count, batch_size)]
        answers = [np.empty((0, len(self.classnames)), np.float32)]
        with _cores() as spread:
            if device.type == "cpu":
                answers_of = spread(lambda rows: self._forward(pixels(rows), device), batches)
            else:
                answers_of = (self._forward(pixels(rows, spread), device) for rows in batches)
            for rows, answer in zip(batches, answers_of, strict=True):
                answers.append(answer)
                if progress:
                    progress(rows.stop, count)
        return np.concatenate(answers)

    @torch.inference_mode()
    def _forward(self, pixels: np.ndarray, device: torch.device) -> np.ndarray:
        scaled = self.preprocess.scale(torch.from_numpy(pixels).to(device)).contiguous(memory_format=_CHANNELS_LAST)
        logits = self.module(scaled).float().cpu().numpy()
        if logits.shape != (len(pixels), len(self.classnames)):
            raise OpenworldError(
                f"{self.architecture!r} gives logits of shape {list(logits.shape)} for {len(pixels)} images and "
                f"{len(self.classnames)} class names; give it the names it was trained with."
            )
        if not np.isfinite(logits).all():
            raise OpenworldError(f"{self.architecture!r} gives logits that are not finite; its weights are damaged.")
        return logits


@contextmanager
def _cores() -> Generator[Callable[..., Iterator]]:
    """A `map` over as many threads as torch may use, each of them with one thread of torch's own."""
    if torch.get_num_threads() == 1:
        yield map
        return
    with cores_of_one_thread(torch.get_num_threads()) as pool:
        yield pool.map


AHEAD = 2
"""Batches that wait, or are being read, beside the one that is worked on."""

_TOGETHER = 16  # images that a thread takes at a time: to hand over a small image costs as much as to read it


def read_ahead(
    read: Callable[[int], np.ndarray],
    rows: np.ndarray,
    shape: tuple[int, ...],
    *,
    batch_size: int,
    readers: int = 1,
    pinned: bool = False,
) -> Generator[torch.Tensor]:
    """Yield images uint8[B, *shape] in order, in batches read while the caller works on those before."""
    # `read` is called by several threads; at most `AHEAD` + 1 batches are held at a time.
    waiting: deque[tuple[torch.Tensor, list[Future]]] = deque()

    def fill(rows: np.ndarray, place: np.ndarray) -> None:
        for number, row in enumerate(rows.tolist()):
            place[number] = read(row)

    with ThreadPoolExecutor(readers, thread_name_prefix="reading") as pool:
        try:
            for start in range(0, len(rows), batch_size):
                chunk = rows[start : start + batch_size]
                batch = torch.empty((len(chunk), *shape), dtype=torch.uint8, pin_memory=pinned)
                places = range(0, len(chunk), _TOGETHER)
                parts = ((chunk[at : at + _TOGETHER], batch[at : at + _TOGETHER].numpy()) for at in places)
                waiting.append((batch, [pool.submit(fill, *part) for part in parts]))
                if len(waiting) > AHEAD:
                    yield _whole(*waiting.popleft())
            while waiting:
                yield _whole(*waiting.popleft())
        finally:
            for _, futures in waiting:
                for future in futures:
                    future.cancel()


def _whole(batch: torch.Tensor, futures: list[Future]) -> torch.Tensor:
    for future in futures:
        future.result()
    return batch
