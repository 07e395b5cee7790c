"""What the documentation site makes of notebooks, and of links that leave docs/ (hooks of mkdocs)."""

import json
import posixpath
import re
from pathlib import Path

from markupsafe import escape

LINK = re.compile(r"\[([^\]]+)\]\((\.\./[^)]+)\)")
CODE = re.compile(r"(<(pre|code)\b.*?</\2>)", re.DOTALL)
UNIT = re.compile(r"(?<=\d) (?=(?:%|s|ms|min|MB|GB|TB)(?![\w-]))")


def on_files(files, config):
    """Make a page of every notebook."""
    from mkdocs.structure.files import File

    for file in list(files):
        if file.src_uri.endswith(".ipynb"):
            notebook = json.loads(Path(file.abs_src_path).read_text(encoding="utf-8"))
            page = file.src_uri.replace(".ipynb", ".md")
            files.append(File.generated(config, page, content=notebook_page(notebook, Path(file.src_uri).name)))
    return files


def on_page_markdown(markdown, page, **_):
    """Name files of the repository that are no pages, in the place of links to them."""
    return LINK.sub(lambda link: _named(link, posixpath.dirname(page.file.src_uri)), markdown)


def on_page_content(html, page, **_):
    """Let the search show guides before the reference, which has more words; keep numbers and units on one line."""
    if page.file.src_uri.startswith("reference/"):
        page.meta.setdefault("search", {"boost": 0.2})
        return html
    parts = CODE.split(html)  # text, code, its tag, text, ...
    parts[::3] = [UNIT.sub("\u00a0", text) for text in parts[::3]]
    return "".join(part for place, part in enumerate(parts) if place % 3 < 2)


def _named(link: re.Match, folder: str) -> str:
    path = posixpath.normpath(posixpath.join(folder, link[2]))
    if not path.startswith("../"):
        return link[0]
    path = path.removeprefix("../")
    return f"`{path}`" if link[1] == path else f"{link[1]} (`{path}` in the repository)"


def notebook_page(notebook: dict, name: str = "") -> str:
    """Return a notebook with its stored outputs as Markdown."""
    parts = [text for cell in notebook["cells"] for text in _cell(cell)]
    note = f"[This page as a notebook]({name})" if name else ""
    return "\n\n".join([*parts[:1], note, *parts[1:]]) + "\n"


def _cell(cell: dict):
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        yield _output(output)


def _output(output: dict) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        return f'<div class="output">{"".join(data["text/html"])}</div>'
    return f'<pre class="output">{escape("".join(output.get("text") or data["text/plain"]))}</pre>'
