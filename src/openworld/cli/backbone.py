"""`openworld backbone`: what a model is, what runs on it, and which files it needs."""

import sys
from typing import Annotated

import typer

from openworld.cli import console

backbone = typer.Typer(no_args_is_help=True, help="Backbones: are the weights there, and what runs on them?")


def check(
    name: Annotated[
        str,
        typer.Argument(
            help="Of `openworld list backbones`, a folder, a .pt file, OWNER/NAME of the hub, "
            "transformers:OWNER/NAME, or open_clip:MODEL/WEIGHTS."
        ),
    ],
    device: Annotated[str, typer.Option(help="auto: a GPU where there is one; cpu, cuda, cuda:1, mps.")] = "auto",
    pictures: Annotated[int, typer.Option(min=1, help="How many embedded pictures to show it.")] = 100,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON instead.")] = False,
) -> None:
    """Load a backbone, show it some of the embedded pictures, and say what was found.

    Do this before the first run on a machine: it tells in a minute whether the weights are there and are those you
    mean. Printed are the towers and their sizes, how pictures and sentences are read, the files that were read, which
    learners and methods run with it and what the others lack, how many embedded pictures it names right without
    training (a check of weights, tokenizer and preprocessing together, no benchmark), and seconds a picture.

    Where it is not there, it says which files to put where, and the command that fetches them on a machine with
    network. Nothing is changed; what can be fetched is fetched, as a run would.

    Three ways to name one. A model whose towers openworld runs itself (CLIP, OpenCLIP, MetaCLIP, SigLIP): all learners
    that its towers allow. `transformers:OWNER/NAME` and `open_clip:MODEL/WEIGHTS` for any other dual encoder, run by
    these libraries (pip install "openworld[transformers]" or "openworld[open-clip]"): everything that needs no
    prompted tower.

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
        with console.bars(quiet=as_json) as progress:
            bar = progress.add_task("looking at embedded pictures", total=pictures, rate="")
            found = check_backbone(
                name,
                device=chosen,
                pictures=pictures,
                told=lambda done, total: progress.update(bar, completed=done),
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
        console.write(json.dumps(found.to_dict(), indent=1))
    else:
        words.say(found, console.output())


backbone.command("check")(console.reporting(check))
