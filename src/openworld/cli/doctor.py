"""`openworld doctor [NAME]`: what is installed and which devices are there; or what a model is, and what runs on it."""

from typing import Annotated

import typer

from openworld.cli._options import AsJson, Device


def doctor(
    name: Annotated[
        str,
        typer.Argument(
            help="A model: of `openworld list backbones`, a folder, OWNER/NAME of the hub, transformers:OWNER/NAME, or "
            "open_clip:MODEL/WEIGHTS. Default: the installation."
        ),
    ] = "",
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Say which version, packages, extras and devices are there, and where cache and data sets lie; or look at a model.

    Put it into a bug report. With the name of a pretrained model it loads the model, shows it some images, and prints
    what it is, the files that were read, which learners and methods run with it and what the others need, how many of
    the images it names right without training (a check of weights, tokenizer and preprocessing together, not a
    benchmark), and the seconds that an image takes. Where the model is not there, it says which files belong where, and
    the command that fetches them on a machine with network. What can be fetched is fetched, as a run would.

    There are three ways to name a model. One whose towers openworld runs itself (CLIP, OpenCLIP, MetaCLIP, SigLIP)
    serves all learners that its towers allow. `transformers:OWNER/NAME` and `open_clip:MODEL/WEIGHTS` are any other
    models with two towers, run by these libraries (pip install "openworld[transformers]" or "openworld[open-clip]");
    they serve everything that does not tune the text tower's input.

    ```sh
    openworld doctor
    openworld doctor ViT-B/16
    openworld doctor transformers:google/siglip2-base-patch16-naflex
    ```

    Exit code 0: what is needed is there; 1: a package is missing or too old; 2: the model is not there, or is none.
    """
    import sys

    from openworld._errors import OpenworldError
    from openworld.cli import console
    from openworld.report.data_files import json_text
    from openworld.report.render import terminal_table

    out = console.output()
    if not name:
        from openworld.applications.installation import installation

        state = installation()
        if as_json:
            console.write(json_text(state.to_dict()))
        else:
            out.print(terminal_table(state.table))
            _say(state.lines, out)
        if not state.whole:
            sys.exit(1)
        return

    from openworld.applications.backbone_check import check_backbone, find_places, say_places
    from openworld.backbones.devices import find_device

    chosen = find_device(device)
    try:
        with console.bars(quiet=as_json) as bars:
            bar = bars.add_task("looking at images")
            model = check_backbone(
                name, device=chosen, progress=lambda done, total: bars.update(bar, completed=done, total=total)
            )
    except OpenworldError as error:
        places = find_places(name)
        if not places:
            raise
        if as_json:
            console.write(json_text({"name": name, "error": str(error), **places}))
        else:
            _say(say_places(name, places), out)
        console.say_error(error)
        sys.exit(2)
    if as_json:
        console.write(json_text(model.to_dict()))
    else:
        _say(model.lines, out)


def _say(lines, out) -> None:
    for line in lines:
        out.print(line, markup=False)
