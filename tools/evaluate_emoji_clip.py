"""Print the zero-shot table of the embedded model, or of another model of its layout, for the model card.

python tools/evaluate_emoji_clip.py [FOLDER]
"""

import sys
from pathlib import Path

from emoji_clip.evaluate import STYLES, VIEWS, Evaluation
from emoji_clip.world import read_world

from openworld import backbones
from openworld.datasets.emoji.drawings import TARGET_STYLES

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "openworld"


def main(folder: str = "embedded") -> None:
    """Encode every image twice, print two tables and the two figures over all styles."""
    clip = backbones.load(folder)
    evaluation = Evaluation(read_world(PACKAGE / "datasets" / "emoji"), clip.encode_image, clip.encode_text)
    for view in VIEWS:
        rows = {style: evaluation.row(style, view) for style in STYLES}
        columns = list(rows[STYLES[0]])
        print(f"\n| {view} | {' | '.join(columns)} |\n|---{'|---' * len(columns)}|")
        for style, row in rows.items():
            name = f"**{style}**" if style in TARGET_STYLES else style
            print(f"| {name} | {' | '.join(f'{value:.3f}' for value in row.values())} |")
        correlation = evaluation.confidence_correlation(clip.logit_scale.item(), view)
        print(f"\nCorrelation of confidence and accuracy over style x group cells, {view}: {correlation:.3f}")
    print(f"Logit scale: {clip.logit_scale.item():.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
