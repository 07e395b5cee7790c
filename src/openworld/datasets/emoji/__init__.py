"""The embedded world: drawings of concepts in several styles, and the data sets that are made of them."""

from openworld.datasets.emoji.tasks import PARTS, TASKS, VARIATIONS, EmojiTask, load

__all__ = ["PARTS", "TASKS", "VARIATIONS", "EmojiTask", "load"]
