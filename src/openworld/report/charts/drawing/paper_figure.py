"""A figure on paper: charts in columns of 3.25 inches, three of many in a row; one legend below; the same bytes."""

from pathlib import Path

from openworld._errors import OpenworldError

WIDTH, HEIGHT = 3.25, 2.5  # inches of a chart
COLUMNS = 2
MANY, MANY_COLUMNS, MANY_HEIGHT = 6, 3, 1.9  # beyond so many charts, narrower ones share the width of two
STYLE = {
    "font.size": 7,
    "axes.titlesize": 8,
    "axes.labelsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "font.family": "sans-serif",
    "axes.titlelocation": "left",
    "pdf.fonttype": 42,
    "svg.hashsalt": "openworld",
    "hatch.linewidth": 0.5,
}
DATES = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}, ".png": {}}


def save_figure(figure, path: Path) -> None:
    """Draw all charts of a figure with matplotlib and write the file."""
    try:
        import matplotlib
        from matplotlib.figure import Figure as Sheet
    except ImportError as error:
        raise OpenworldError(
            f"saving a figure needs matplotlib ({error}); install it with pip install 'openworld[plots]'."
        ) from error
    many = len(figure.charts) > MANY
    columns = MANY_COLUMNS if many else min(COLUMNS, len(figure.charts))
    lines, usual = -(-len(figure.charts) // columns), MANY_HEIGHT if many else HEIGHT
    height = lines * max(getattr(chart, "paper_height", usual) for chart in figure.charts)
    with matplotlib.rc_context(STYLE):
        sheet = Sheet(figsize=(WIDTH * min(COLUMNS, columns), height), layout="constrained")
        places = sheet.subplots(lines, columns, squeeze=False).ravel()
        for axes, chart in zip(places, figure.charts, strict=False):
            chart.draw(axes, figure.styles)
        for axes in places[len(figure.charts) :]:
            axes.set_axis_off()
        _add_legend(sheet, places)
        sheet.savefig(path, dpi=300, metadata=DATES[path.suffix.lower()])


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
