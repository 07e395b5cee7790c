"""A GPU whose memory is full: fewer rows at a time where that changes no result, a refusal where it would."""

import logging
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from openworld.core.errors import OpenworldError

_log = logging.getLogger(__name__)
Part = TypeVar("Part")


@dataclass
class BatchSize:
    """How many rows are worked on at a time: halved when a GPU has no room for them, and then kept.

    `doing` is what is done with them, such as "encoding images".
    """

    rows: int
    doing: str

    def parts(self, run: Callable[[slice], Part], count: int) -> list[Part]:
        """What `run` returns for slices that cover `count` rows in order; one empty slice where there is no row."""
        results, start = [], 0
        while start < count or not results:
            rows = slice(start, min(start + self.rows, count))
            if self._fits(run, rows, results):
                start = rows.stop
            else:  # here, where what the attempt held has gone with its frames
                self._shrink(rows)
        return results

    def _fits(self, run: Callable[[slice], Part], rows: slice, results: list[Part]) -> bool:
        import torch

        try:
            results.append(run(rows))
        except torch.cuda.OutOfMemoryError:
            return False
        return True

    def _shrink(self, rows: slice) -> None:
        import torch

        tried = rows.stop - rows.start
        if tried <= 1:
            raise OpenworldError(
                f"{self.doing}: not even one fits in the memory of the GPU; end what else runs there, give fewer "
                "--workers, or --device cpu."
            )
        # Another thread may have found less already.
        self.rows = min(self.rows, tried // 2)
        torch.cuda.empty_cache()
        sentence = "%s: %d at a time do not fit in the memory of the GPU; it goes on with %d at a time."
        _log.warning(sentence, self.doing, tried, self.rows)


@contextmanager
def keeping_batch(size: int) -> Generator[None]:
    """Refuse, with what can be done about it, where a training step of `size` images does not fit on a GPU."""
    import torch

    try:
        yield
    except torch.cuda.OutOfMemoryError as error:
        raise OpenworldError(
            f"a training step of {size} images does not fit in the memory of the GPU, and the published batch size is "
            'not changed; give fewer --workers, say precision = "bfloat16" in the spec, or take a GPU with more memory.'
        ) from error


@contextmanager
def cores_of_one_thread(cores: int | None) -> Generator[ThreadPoolExecutor]:
    """A pool of so many threads, each of them with one thread of torch's own: what a sum gives is fixed so."""
    import torch

    threads = torch.get_num_threads()
    try:
        with ThreadPoolExecutor(cores, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield pool
    finally:
        torch.set_num_threads(threads)  # what a thread sets for itself, torch also takes as the default of later ones
