"""`openworld backbone`: what a model is, what runs on it, and which files it needs."""

import sys
from typing import Annotated

import typer

from openworld.cli import console
from openworld.cli._options import AsJson, Device

backbone = typer.Typer(
    no_args_is_help=True, help="Pretrained models (backbones): are they there, and what runs with them?"
)


def check(
    name: Annotated[
        str,
        typer.Argument(
            help="Of `openworld list backbones`, a folder, a .pt file, OWNER/NAME of the hub, "
            "transformers:OWNER/NAME, or open_clip:MODEL/WEIGHTS."
        ),
    ],
    device: Device = "auto",
    images: Annotated[
        int, typer.Option("--images", "--pictures", min=1, help="How many images that come with openworld it is shown.")
    ] = 100,
    as_json: AsJson = False,
) -> None:
    """Load a pretrained model, show it some images that come with openworld, and say what it is and what runs with it.

    Do this before the first run on a machine: it takes a minute and tells whether the weights are there and are those
    that you mean. It prints the sizes of the image tower and the text tower, how images and sentences are prepared, the
    files that were read, which learners and methods run with the model and what the others need, how many of the images
    it names right without training (a check of weights, tokenizer and preprocessing together, not a benchmark), and the
    seconds that an image takes.

    Where the model is not there, it says which files belong where, and the command that fetches them on a machine with
    network. What can be fetched is fetched, as a run would; nothing else is changed.

    There are three ways to name a model. One whose towers openworld runs itself (CLIP, OpenCLIP, MetaCLIP, SigLIP)
    serves all learners that its towers allow. `transformers:OWNER/NAME` and `open_clip:MODEL/WEIGHTS` are any other
    models with two towers, run by these libraries (pip install "openworld[transformers]" or "openworld[open-clip]");
    they serve everything that does not tune the text tower's input.

        openworld backbone check ViT-B/16

        openworld backbone check transformers:google/siglip2-base-patch16-naflex

        openworld backbone check open_clip:MobileCLIP-S2/datacompdr

    Exit code 0: it is there and runs; 2: it is not there, or is no such model.
    """
    import json

    from openworld._errors import OpenworldError
    from openworld.applications.backbone_check import check_backbone
    from openworld.backbones.devices import find_device
    from openworld.cli import _backbone as words

    chosen = find_device(device)
    try:
        with console.bars(quiet=as_json) as bars:
            bar = bars.add_task("looking at images", total=images)
            model = check_backbone(
                name, device=chosen, pictures=images, progress=lambda done, total: bars.update(bar, completed=done)
            )
    except OpenworldError as error:
        places = words.places(name)
        if not places:
            raise
        if as_json:
            console.write(json.dumps({"name": name, "error": str(error), **places}, indent=1))
        else:
            words.say_places(name, places, console.output())
        console.say_error(error)
        sys.exit(2)
    if as_json:
        console.write(json.dumps(model.to_dict(), indent=1))
    else:
        words.say(model, console.output())


backbone.command("check")(console.reporting(check))
