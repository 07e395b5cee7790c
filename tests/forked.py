"""Processes to be killed that need not import the package: forks of a server that has done so once."""

import multiprocessing
import os

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["torch", "openworld.label_free.estimate.command", "openworld.label_free.watch.command"])


def start(work, folder, *arguments):
    """Begin a function of an importable module, with these arguments and in a folder; a process to wait for or kill."""
    process = FORKS.Process(target=_in, args=(folder, work, arguments))
    process.start()
    return process


def _in(folder, work, arguments):
    os.chdir(folder)
    work(*arguments)


def killed_after(process, seconds):
    """Kill a process unless it ends within so many seconds; whether it was killed."""
    process.join(seconds)
    if process.exitcode is not None:
        return False
    process.kill()
    process.join()
    return True
