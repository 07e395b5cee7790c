"""Docstrings of this package as Markdown, for the reference of the documentation site (an extension of griffe).

Doctests become blocks of code, and columns that are aligned with spaces keep their shape.
"""

import re
from collections.abc import Iterator

import griffe

COLUMNS = re.compile(r"\S.* {3,}\S")
SECTION = re.compile(r"(?<=\S)\n(?=(?:Args|Returns|Raises|Yields|Source):)")


class Docstrings(griffe.Extension):
    """Fence what a terminal would show as it is, and put functions before classes, and these before constants."""

    def on_object(self, *, obj: griffe.Object, **_) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
        if obj.is_module and obj.exports:
            obj.exports = sorted(obj.exports, key=lambda name: (not str(name)[0].islower(), str(name).isupper()))

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **_) -> None:
        self.on_object(obj=pkg)
        loader.resolve_aliases()
        for module in list(_modules(pkg)):
            for name in map(str, module.exports or ()):
                file = module.members.get(name)
                if file is not None and file.is_module and name in file.members:  # `auroc` is a function of auroc.py
                    module.members[name] = griffe.Alias(name, target=file.members[name], parent=module)


def _modules(module: griffe.Module) -> Iterator[griffe.Module]:
    yield module
    for inner in module.modules.values():
        if not inner.is_alias:
            yield from _modules(inner)


def fenced(text: str) -> str:
    """Return the docstring with doctests and aligned columns in fences.

    >>> print(fenced("Add.\\n\\n>>> 1 + 1\\n2\\n\\nMore."))
    Add.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    <BLANKLINE>
    More.
    """
    return "\n\n".join(map(_fenced_paragraph, SECTION.sub("\n\n", text).split("\n\n")))


def _fenced_paragraph(paragraph: str) -> str:
    lines = paragraph.splitlines()
    if not lines or lines[0].startswith(" "):  # indented: Markdown shows it as it is
        return paragraph
    if lines[0].startswith(">>> "):
        shown = re.sub(r" *# doctest:.*", "", paragraph)
        return f"```pycon\n{shown}\n```"
    if any(map(COLUMNS.match, lines)):
        return f"```text\n{paragraph}\n```"
    return paragraph
