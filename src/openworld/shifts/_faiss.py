"""faiss as another way to find candidates: its flat index of inner products, on the CPU."""

import torch
from torch import Tensor

from openworld._errors import OpenworldError
from openworld.shifts._search import Candidates, SearchReference


def faiss_search(queries: Tensor, reference: SearchReference, count: int) -> Candidates:
    """Search as `matrix_search` does, by `faiss.IndexFlatIP`; float32 on the CPU only."""
    if "index" not in reference.scratch:
        reference.scratch["index"] = _index(reference)
    wanted = min(count, len(reference))
    values, places = reference.scratch["index"].search(queries.to("cpu", torch.float32).numpy(), wanted)
    values, places = (torch.from_numpy(array).to(queries.device) for array in (values, places))
    rest = values[:, -1].to(torch.float64)
    return Candidates(places, rest if len(reference) > count else torch.full_like(rest, -torch.inf))


def _index(reference: SearchReference):
    try:
        import faiss
    except ImportError as error:
        raise OpenworldError(
            "the engine 'faiss' needs the package faiss-cpu (pip install faiss-cpu); the engine 'matrix' needs nothing "
            "and gives the same degrees."
        ) from error
    index = faiss.IndexFlatIP(reference.given.shape[1])
    index.add(reference.part(0, len(reference)).to("cpu", torch.float32).numpy())
    return index
