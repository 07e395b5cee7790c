"""A stand-in for the hub and its cache: repositories are folders, by revision; remembers what was fetched."""

import fnmatch
import shutil
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub


class Hub:
    """One repository; `revisions` maps None (main) and "refs/pr/N" to folders, `requests` are its pull requests.

    Args:
        main: what its main branch holds. cache: where fetched files go.
    """

    def __init__(self, main: Path, cache: Path):
        self.repository, self.cache = main, cache
        self.revisions, self.requests = {None: main, "main": main}, []
        self.fetched, self.sources, self.offline, self.lists = set(), set(), False, True

    def stand_in(self, monkeypatch) -> "Hub":
        api = SimpleNamespace(model_info=self.model_info, get_repo_discussions=self.get_repo_discussions)
        monkeypatch.setattr(huggingface_hub, "snapshot_download", self.snapshot_download)
        monkeypatch.setattr(huggingface_hub, "HfApi", lambda: api)
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(self.cache))
        return self

    def request(self, number: int, folder: Path, author: str) -> None:
        """Somebody's pull request whose branch holds a folder."""
        revision = f"refs/pr/{number}"
        self.revisions[revision] = folder
        self.requests.append(SimpleNamespace(author=author, git_reference=revision))

    def snapshot_download(self, source, *, revision=None, allow_patterns=("*",), local_files_only=False):
        repository = self.cache / f"models--{source.replace('/', '--')}"
        folder = repository / "snapshots" / (revision or "main").replace("/", "-")
        if local_files_only or self.offline:
            if not folder.is_dir():
                raise FileNotFoundError("no such snapshot, and no network")
            return str(folder)
        folder.mkdir(parents=True, exist_ok=True)
        if (revision or "").startswith("refs/pr/"):
            (repository / "refs" / revision).parent.mkdir(parents=True, exist_ok=True)
            (repository / "refs" / revision).write_text("commit")
        self.sources.add(source)
        for file in self.revisions[revision].iterdir():
            if any(fnmatch.fnmatch(file.name, pattern) for pattern in allow_patterns):
                shutil.copy(file, folder)
                self.fetched.add(file.name)
        return str(folder)

    def model_info(self, source, *, revision=None, timeout=None):
        self._reach()
        return SimpleNamespace(
            siblings=[SimpleNamespace(rfilename=file.name) for file in self.revisions[revision].iterdir()]
        )

    def get_repo_discussions(self, source, *, discussion_type):
        self._reach()
        if not self.lists:
            raise ConnectionError("429 Too Many Requests")
        return iter(self.requests)

    def _reach(self):
        if self.offline:
            raise RuntimeError("no route to host")
