"""The files of a hub repository on this machine: from the hub cache where they are whole, else fetched.

One form of weights is fetched, because repositories often hold the same weights in several. Where main has only pickled
ones, the pull request is looked for with which the hub's own conversion service adds them as safetensors; pull requests
of anybody else are not: they could hold any weights.
"""

from pathlib import Path

from openworld._errors import OpenworldError, unknown_name
from openworld.backbones.cards import BACKBONES
from openworld.backbones.published_files import SMALL_FILES, Form, cached_folders, weight_form, whole_form

_CONVERTER = "SFconvertbot"


def repository_folder(source: str, revision: str | None) -> Path:
    """A folder that holds the weights of a repository in one form, and its small files.

    revision: None for main, or the conversion of main.
    Raises OpenworldError where the hub cannot be reached, does not have the repository, or it has no such weights.
    """
    for folder in cached_folders(source, revision):
        if whole_form(folder):
            return folder
    try:
        return _fetch(source, revision)
    except OpenworldError:
        raise
    except Exception as error:  # the errors of the hub's HTTP library differ with its version
        hint = "" if source in BACKBONES else f" Otherwise: {unknown_name('backbone', source, BACKBONES)}"
        raise OpenworldError(
            f"cannot fetch {source!r} from the hub ({type(error).__name__}: {(str(error) or '-').splitlines()[0]}); "
            f"check the network, or pass a local folder: `openworld doctor {source}` says what must lie in it."
            f"{hint}"
        ) from error


def fetch_small_files(source: str) -> Path:
    """The folder with configuration, tokenizer and preprocessing of a repository, fetched where they are not there."""
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(source, allow_patterns=list(SMALL_FILES)))


def _fetch(source: str, revision: str | None) -> Path:
    from huggingface_hub import snapshot_download

    folder = Path(snapshot_download(source, revision=revision, allow_patterns=list(SMALL_FILES)))
    form = weight_form(folder, _names(source, revision))
    if revision is None and (form is None or form.pickled):
        revision, form = _conversion(source, folder) or (None, form)
    if form is None:
        raise OpenworldError(
            f"{source!r} has no weights of two towers with the configuration that describes them; it may hold an image "
            "tower alone, or another kind of model."
        )
    return Path(snapshot_download(source, revision=revision, allow_patterns=[*SMALL_FILES, *form.files]))


def _conversion(source: str, folder: Path) -> tuple[str, Form] | None:
    """The revision in which the hub's service converted the weights, and their form; None without one."""
    from huggingface_hub import HfApi

    try:
        requests = [
            request
            for request in HfApi().get_repo_discussions(source, discussion_type="pull_request")
            if request.author == _CONVERTER and request.git_reference
        ]
        for request in requests:
            form = weight_form(folder, _names(source, request.git_reference))
            if form and not form.pickled:
                return request.git_reference, form
    except Exception:  # as above; without the list of requests main's own weights do as well
        return None
    return None


def _names(source: str, revision: str | None) -> list[str]:
    from huggingface_hub import HfApi

    return [file.rfilename for file in HfApi().model_info(source, revision=revision, timeout=10).siblings]
