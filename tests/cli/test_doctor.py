"""`openworld doctor`: what is there, what is missing, and what to type."""

import json

from in_process import openworld

from openworld.own_data import installation
from openworld.own_data.installation import Package


def test_what_is_needed_is_listed_with_its_version():
    done = openworld("doctor", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["whole"]
    torch = next(package for package in found["packages"] if package["name"] == "torch")
    assert torch["installed"] and torch["extra"] == ""
    assert {package["extra"] for package in found["packages"]} >= {"faiss", "ray"}
    assert "cpu" in found["devices"]


def test_what_is_missing_or_too_old_is_said_with_what_to_type(monkeypatch):
    assert "openworld[ray]" in Package("ray", "2.40", "ray", None).state
    old = Package("numpy", "1.26", "", "1.9.3")
    assert not old.ok and "numpy>=1.26" in old.state
    monkeypatch.setattr(installation, "requires", lambda name: ["nothing-of-this-name>=1.0"])
    done = openworld("doctor")
    assert done.returncode == 1 and "missing" in done.stdout


def test_the_help_has_groups_and_every_command_is_in_one():
    from openworld.cli.app import GROUPS, commands

    done = openworld("--help", columns=100)
    assert all(group in done.stdout for group in GROUPS)
    assert {name for name in commands if name[0] != "-"} == {name for group in GROUPS.values() for name in group}
