"""What is installed here, and what a model is and which methods run on it: `openworld doctor`."""

from openworld.api.answers import TextReport
from openworld.core.console import Ending, observing
from openworld.core.errors import OpenworldError
from openworld.core.types import checked


@checked
def doctor(name: str = "", *, device: str = "auto", quiet: bool = False) -> TextReport:
    """Say which version, packages, extras and devices are there, and where cache and data sets lie; or look at a model.

    ```
    openworld doctor
    openworld doctor ViT-B/16
    openworld doctor transformers:google/siglip2-base-patch16-naflex
    ```

    Put it into a bug report. With the name of a pretrained model it loads the model, shows it some images, and prints
    what it is, the files that were read, which learners and methods run with it and what the others need, how many of
    the images it names right without training (a check of weights, tokenizer and preprocessing together, not a
    benchmark), and the seconds that an image takes. Where the model is not there, it says which files belong where, and
    the command that fetches them on a machine with network. What can be fetched is fetched, as a run would.

    There are three ways to name a model. One whose towers openworld runs itself (CLIP, OpenCLIP, MetaCLIP, SigLIP)
    serves all learners that its towers allow. `transformers:OWNER/NAME` and `open_clip:MODEL/WEIGHTS` are any other
    models with two towers, run by these libraries (pip install "openworld[transformers]" or "openworld[open-clip]");
    they serve everything that does not tune the text tower's input.

    Exit code 0: what is needed is there; 1: a package is missing or too old; 2: the model is not there, or is none.

    Args:
        name: a model: of `openworld list backbones`, a folder, OWNER/NAME of the hub, transformers:OWNER/NAME, or
            open_clip:MODEL/WEIGHTS; default: the installation.
        device: auto: a GPU where there is one; cpu, cuda, cuda:1, mps.
        quiet: show no progress; on the command line, print nothing but errors.

    Returns:
        What was found, as lines and as plain values.

    Raises:
        OpenworldError: a name that names no model.
    """
    from openworld.own_data.doctor import backbone_lines, check_backbone, find_places, installation, say_places

    if not name:
        from openworld.report.render import terminal_table

        plain, table, lines = installation()
        return TextReport((terminal_table(table), *lines), plain, Ending(exit_code=0 if plain["whole"] else 1))

    from openworld.backbones.devices import find_device

    chosen = find_device(device)
    try:
        with observing(quiet=quiet) as observer:
            model = check_backbone(
                name, device=chosen, progress=lambda done, total: observer.progress("looking at images", done, total)
            )
    except OpenworldError as error:
        places = find_places(name)
        if not places:
            raise
        plain = {"name": name, "error": str(error), **places}
        return TextReport(tuple(say_places(name, places)), plain, Ending(error=str(error), exit_code=2))
    return TextReport(backbone_lines(model), model)
