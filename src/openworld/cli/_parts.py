"""A command that has further commands beside it, such as `openworld estimate` and `openworld estimate fit`."""

import typer
from typer.core import TyperGroup

from openworld.cli import console


class CommandWithParts(TyperGroup):
    """A command that works as ever; where its first word is the name of a part, that part works in its place.

    A plain group would ask for the command's own required options before those of the part.
    """

    def make_context(self, info_name, args, parent=None, **extra):
        part = self.commands.get(args[0]) if args else None
        if part is None:
            return super().make_context(info_name, args, parent, **extra)
        whole = self.context_class(self, info_name=info_name, parent=parent)
        return part.make_context(args[0], args[1:], parent=whole, **extra)


def with_parts(command, **parts) -> typer.Typer:
    """Return a command together with its parts, by their names."""
    group = typer.Typer(cls=CommandWithParts, invoke_without_command=True, callback=console.reporting(command))
    for name, part in parts.items():
        group.command(name)(console.reporting(part))
    return group
