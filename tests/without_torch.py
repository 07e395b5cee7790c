"""Commands and lines of Python in a process in which torch, tokenizers and huggingface_hub cannot be imported."""

import json
import subprocess
import sys

PROCESS = """
import json, sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in ("torch", "tokenizers", "huggingface_hub"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from openworld.cli.app import app
from openworld.cli.in_process import invoke

commands, lines = json.load(sys.stdin)
done = {}
for words in commands:
    ended = invoke(app, words.split())
    done[words] = [ended.exit_code, ended.stdout, ended.stderr, repr(ended.exception)]
for line in lines:
    try:
        exec(line, {})
        done[line] = ["", ""]
    except Exception as error:
        done[line] = [type(error).__name__, str(error)]
print(json.dumps(done))
"""


def without_torch(folder, commands, lines=()):
    """Return command -> exit code, standard output and error, exception; line -> kind of its error and its text."""
    process = subprocess.run(
        [sys.executable, "-c", PROCESS],
        input=json.dumps([list(commands), list(lines)]),
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout.splitlines()[-1])
