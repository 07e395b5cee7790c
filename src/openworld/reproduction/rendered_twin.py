"""The rendered twin of Syn-IS: images made to order, which runs on embedded data read and which is made before them.

It is the set of `examples/syn-is-embedded.toml`: drawings redrawn in 17 styles, equally many at every level of the
shift of their prompts.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from openworld.core.progress import Observer

FOLDER = "syn-is-twin"  # of the set, below that of the runs; specs of planned runs call it by this name

KNOWN = "emoji-concepts"
STYLE = "noto"
SHOWN = (f"{KNOWN}/{STYLE}/test", f"emoji-concepts-b/{STYLE}/test")
"""What is in distribution, as whom it was drawn, and which drawings are redrawn."""


@dataclass(frozen=True)
class RenderedTwin:
    levels: int = 6
    each: int = 100
    backbone: str = "embedded"

    @property
    def most_images(self) -> int:
        """How many images it has if no cell stays empty."""
        return self.each * self.levels**2

    def make(self, folder: Path, device: str, observer: Observer) -> None:
        """Make what is missing of the set; nothing where it is finished."""
        from openworld.own_data.synthesize.command import plan_set

        planned = plan_set(
            (f"{KNOWN}/{STYLE}/train",),
            backbone=self.backbone,
            device=device,
            levels=self.levels,
            each=self.each,
            painter="rendered",
            images=SHOWN,
            out=folder / FOLDER,
            observer=observer,
        )
        planned.paint(observer)


def placed(spec: Any, folder: Path) -> Any:
    """Return a spec that reads the set in the folder of all runs, where it reads it at all."""
    here = str(folder / FOLDER)
    changes = {}
    if spec.cells is not None and spec.cells.generated == FOLDER:
        changes["cells"] = replace(spec.cells, generated=here)
    pool = tuple(replace(entry, dataset=here) if entry.dataset == FOLDER else entry for entry in spec.pool)
    return replace(spec, pool=pool, **changes)
