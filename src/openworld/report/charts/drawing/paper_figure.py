"""A figure on paper: charts in columns of 3.25 inches, three of many in a row; one legend below; the same bytes.

Charts whose texts need more room are wider, and then fewer stand in a row. What is known only when all charts have
their places is mended then: titles are broken, and labels below an axis are broken, left out or turned.
"""

from itertools import pairwise
from pathlib import Path

from openworld.core.errors import OpenworldError
from openworld.report.charts.drawing.lettering import LINE, POINTS, text_width, thinned, wrapped
from openworld.report.charts.drawing.paper import TITLE
from openworld.runs.atomic import writing

WIDTH, HEIGHT = 3.25, 2.5  # inches of a chart
COLUMNS = 2
NARROW = 30.0  # points between two labels below an axis; closer ones stand upright
MANY, MANY_COLUMNS, MANY_HEIGHT = 6, 3, 1.9  # beyond so many charts, narrower ones share the width of two
STYLE = {
    "font.size": POINTS,
    "axes.titlesize": TITLE,
    "axes.labelsize": POINTS,
    "xtick.labelsize": POINTS,
    "ytick.labelsize": POINTS,
    "legend.fontsize": POINTS,
    "font.family": "sans-serif",
    "axes.titlelocation": "left",
    "pdf.fonttype": 42,
    "svg.hashsalt": "openworld",
    "hatch.linewidth": 0.5,
}
DATES = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}, ".png": {}}


def save_figure(figure, path: Path) -> None:
    """Draw all charts of a figure with matplotlib and write the file."""
    # A page's drawings are no figures of a paper: their titles and keys are HTML, and in a column of 3.25 inches their
    # type is too small. Of converters to PDF, svglib loses translucency and hatches, and CairoSVG names; typst (84 MB)
    # shows all as browsers do, in the fonts of the machine.
    try:
        import matplotlib
        from matplotlib.figure import Figure as Sheet
    except ImportError as error:
        raise OpenworldError(
            f"saving a figure needs matplotlib ({error}); install it with pip install 'openworld[plots]'."
        ) from error
    columns, width = _columns(figure)
    rows, usual = -(-len(figure.charts) // columns), MANY_HEIGHT if columns == MANY_COLUMNS else HEIGHT
    heights = [chart.paper_height(width) if hasattr(chart, "paper_height") else usual for chart in figure.charts]
    titles = [wrapped(chart.title, 72 * width - 45, TITLE) for chart in figure.charts]
    height = max(heights) + max(title.count("\n") for title in titles) * LINE * TITLE / 72
    with matplotlib.rc_context(STYLE):  # ty: ignore[invalid-argument-type]: text from a file of settings
        sheet = Sheet(figsize=(width * columns, rows * height), layout="constrained")
        places = sheet.subplots(rows, columns, squeeze=False).ravel()
        for axes, chart in zip(places, figure.charts, strict=False):
            chart.draw(axes, figure.styles)
        for axes in places[len(figure.charts) :]:
            axes.set_axis_off()
        _add_legend(sheet, places)
        _fit_texts(sheet, places[: len(figure.charts)])
        form = path.suffix.lower()
        with writing(path) as file:
            sheet.savefig(file, format=form.removeprefix("."), dpi=300, metadata=DATES[form])


def _columns(figure) -> tuple[int, float]:
    """Return how many charts stand in a row, and the inches that each has: two columns of text hold them all."""
    count, least = len(figure.charts), max(getattr(chart, "paper_width", 0.0) for chart in figure.charts)
    most = MANY_COLUMNS if count > MANY else COLUMNS
    columns = next((each for each in range(min(most, count), 1, -1)
                    if each % figure.together == 0 and least <= COLUMNS * WIDTH / each), 1)  # fmt: skip
    if columns == 1:
        return 1, WIDTH if least <= WIDTH else max(COLUMNS * WIDTH, least)
    return columns, COLUMNS * WIDTH / columns


def _fit_texts(sheet, places) -> None:
    """Break titles and labels, or leave labels out, where they would meet; what does not help is turned upright."""
    point = sheet.dpi / 72
    sheet.get_layout_engine().execute(sheet)
    for axes in places:
        slot, box = axes.get_position(original=True), axes.get_window_extent()
        room = (slot.x1 * sheet.bbox.width - box.x0) / point
        axes.set_title(wrapped(axes.get_title("left"), room, TITLE))
        if not axes.axison:
            continue
        corner = axes.get_xlim()[0], axes.get_ylim()[0]
        for axis, at in (("x", 0), ("y", 1)):
            ticks = getattr(axes, f"get_{axis}ticks")()
            labels = [label.get_text() for label in getattr(axes, f"get_{axis}ticklabels")()]
            points = [(tick, corner[1]) if axis == "x" else (corner[0], tick) for tick in ticks]
            centres = [float(place[at]) / point for place in map(axes.transData.transform, points)]
            if axis == "x" and any(map(_is_word, labels)):
                pitch = min((after - before for before, after in pairwise(centres)), default=room) - 2
                broken = [wrapped(label, pitch, POINTS) if pitch > NARROW else label for label in labels]
                axes.set_xticks(ticks, broken, rotation=0 if pitch > NARROW else 90)
            elif not any(map(_is_word, labels)):
                lengths = [text_width(label, POINTS) if axis == "x" else POINTS for label in labels]
                visible = thinned(centres, lengths, 2.0)
                texts = [label if place in visible else "" for place, label in enumerate(labels)]
                getattr(axes, f"set_{axis}ticks")(ticks, texts)


def _is_word(label: str) -> bool:
    return sum(map(str.isalpha, label)) > 1 and label != "none"


def _add_legend(sheet, places) -> None:
    """Name every series once, below the charts, in as many columns as there is room for."""
    pairs = (zip(*axes.get_legend_handles_labels(), strict=True) for axes in places)
    handles = {label: handle for entries in pairs for handle, label in entries}
    if not handles:
        return
    for columns in range(len(handles), 0, -1):
        legend = sheet.legend(
            handles.values(), handles, loc="outside lower center", ncols=columns, frameon=False, columnspacing=1.2
        )
        box = legend.get_window_extent()
        if box.width <= sheet.bbox.width or columns == 1:
            break
        legend.remove()
    sheet.set_figheight(sheet.get_figheight() + box.height / sheet.dpi)
