"""Cards of methods: what a class says of itself, in one literal, and answers as attributes of its own (`KNN.name`)."""

from typing import Any, ClassVar


class Carded:
    """Base of methods: every field of a class's `card`, a dataclass, becomes an attribute of that class."""

    card: ClassVar[Any]

    def __init_subclass__(cls, **arguments: Any):
        super().__init_subclass__(**arguments)
        if "card" in vars(cls):  # not that of the base: a class without one may name these attributes itself
            for name, value in vars(cls.card).items():
                setattr(cls, name, value)
