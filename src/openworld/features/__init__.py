"""Encode an image set once, keep it on disk, and look at it through views."""

from typing import TYPE_CHECKING

from openworld.core.lazy import lazily

if TYPE_CHECKING:
    from openworld.features.augment import random_resized_crop
    from openworld.features.cache import default_cache
    from openworld.features.encoding import (
        Encoding,
        count_looks,
        encode,
        encode_shard,
        encode_together,
        encoded_size,
        fingerprint_of,
        hold_set,
        is_encoded,
        missing_shards,
    )
    from openworld.features.store import Features, FeatureStore
    from openworld.features.streaming import stream
    from openworld.features.view import View

__getattr__, __dir__ = lazily(__name__, __file__)

__all__ = [
    "Encoding",
    "Features",
    "FeatureStore",
    "View",
    "count_looks",
    "default_cache",
    "encode",
    "encode_shard",
    "encode_together",
    "encoded_size",
    "fingerprint_of",
    "hold_set",
    "is_encoded",
    "missing_shards",
    "random_resized_crop",
    "stream",
]
