"""Dual encoders that another library runs, by a prefix: "transformers:REPOSITORY" and "open_clip:MODEL/WEIGHTS".

They embed pictures and sentences, no more: what enters a tower (learned contexts, rows among patches) or comes out of
its middle (patch features) needs towers of ours. The libraries are extras and imported when a model of them is asked
for; so is torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from openworld.backbones.foreign.encoder import ForeignEncoder

LIBRARIES = {"transformers": "of_transformers", "open_clip": "of_open_clip"}
"""Prefix of a name -> the file here that knows the library."""


def is_foreign(name: str) -> bool:
    """Whether a backbone's name says that another library runs it.

    >>> is_foreign("transformers:kakaobrain/align-base"), is_foreign("openai/clip-vit-base-patch16")
    (True, False)
    """
    return name.partition(":")[0] in LIBRARIES and ":" in name


def load(name: str, *, device: "str | torch.device" = "cpu", dtype: "torch.dtype | None" = None) -> "ForeignEncoder":
    """The frozen encoder of a name with a prefix; its weights in float32 where no dtype is given.

    Raises OpenworldError where the library is not installed or cannot make the model whole, and for a model that does
    not give one embedding per picture and one per sentence, equally wide.
    """
    import torch

    from openworld.backbones.foreign.encoder import ForeignEncoder

    library, _, source = name.partition(":")
    model = import_module(f"{__name__}.{LIBRARIES[library]}").load(source, name)
    return ForeignEncoder(name, model, device, dtype or torch.float32)
