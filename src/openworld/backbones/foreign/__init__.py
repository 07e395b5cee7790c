"""Dual encoders whose towers are not ours: another library's, somebody's own, and embeddings in the place of a model.

    "transformers:REPOSITORY", "open_clip:MODEL/WEIGHTS"    run by these libraries
    "package.module:function"                               what a function of the user's own returns (`of_objects`)
    "FILE.npz", "FILE.parquet"                              embeddings of class names (`of_embeddings`)

They embed images and sentences, no more: what enters a tower (learned contexts, rows among patches) or comes out of
its middle (patch features) needs towers of ours. The libraries are extras and imported when a model of them is asked
for; so is torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from openworld.backbones.names import LIBRARIES, is_embeddings, is_function

if TYPE_CHECKING:
    import torch

    from openworld.backbones.foreign.encoder import ForeignEncoder


def load(name: str, *, device: "str | torch.device" = "cpu", dtype: "torch.dtype | None" = None) -> "ForeignEncoder":
    """The frozen encoder of such a name; its weights in float32 where no dtype is given.

    Raises OpenworldError where the library is not installed or cannot make the model whole, and for a model that does
    not give one embedding per image and one per sentence, equally wide.
    """
    import torch

    from openworld.backbones.foreign.encoder import ForeignEncoder

    if is_function(name):
        return import_module(f"{__name__}.of_objects").load(name)
    if is_embeddings(name):
        return import_module(f"{__name__}.of_embeddings").load(name)
    library, _, source = name.partition(":")
    model = import_module(f"{__name__}.{LIBRARIES[library]}").load(source, name)
    return ForeignEncoder(name, model, device, dtype or torch.float32)
