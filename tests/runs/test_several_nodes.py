"""A real Ray cluster of three nodes on this machine, of which one is killed: same bytes as on one machine (slow)."""

import contextlib
import os
import time

import pytest

from openworld.runs import RunStore, Unit, execute

pytestmark = pytest.mark.slow

CORES = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}


class ThreeNodes:
    """A cluster whose nodes have a core each, so that three units at a time are on three nodes."""

    def __init__(self):
        from ray.cluster_utils import Cluster

        self._cluster = Cluster(initialize_head=True, head_node_args=CORES)
        self._others = []
        self.address = self._cluster.address

    def fill(self):
        """Have two nodes beside the head, which the driver is on."""
        while len(self._others) < 2:
            self._others.append(self._cluster.add_node(**CORES))
        self._cluster.wait_for_nodes(timeout=300)

    def kill(self):
        """Kill a node and all its processes, by SIGKILL; return what Ray calls it."""
        victim = self._others.pop()
        self._cluster.remove_node(victim, allow_graceful=False)
        return victim.node_id

    def end(self):
        self._cluster.shutdown()


def comes_true(condition, seconds=300):
    """Whether a condition holds, now or before long: it is looked at until it does."""
    stop = time.monotonic() + seconds
    while not condition() and time.monotonic() < stop:
        time.sleep(0.05)
    return condition()


@pytest.fixture(scope="module")
def cluster():
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'openworld[ray]'")
    nodes = ThreeNodes()
    try:
        yield nodes
    finally:
        nodes.end()


@pytest.fixture
def nodes(cluster, monkeypatch):
    cluster.fill()
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    return cluster


def is_alive(process):
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


def waiting_draws(folder, count):
    """Units that leave a mark where they are, and go on once there is a file "go" in the folder."""
    where = {"folder": str(folder)}
    return [Unit("example_units:wait", {"seed": n}, name=f"wait-{n}", resources=where) for n in range(count)]


def test_a_node_killed_at_its_unit_costs_that_unit_alone(nodes, tmp_path, contents):
    marks, events, victims = tmp_path / "marks", [], []
    marks.mkdir()

    def begun():
        """[name of the unit, node, process] of every unit that was begun."""
        return [path.name.split("_") for path in marks.glob("*_*")]

    def watch(event):
        events.append(event)
        if sum(each.state == "started" for each in events) == 3 and not victims:  # one on every node
            assert comes_true(lambda: len(begun()) == 3), "a unit marks where it is soon after it is started"
            victims.append(nodes.kill())
        if event.state == "lost":  # until then all wait: a worker outlives its node by a second, and may end its unit
            (process,) = (int(process) for _, node, process in begun() if node == victims[0])
            assert comes_true(lambda: not is_alive(process)), "a worker ends when its node is gone"
            (marks / "go").touch()

    units = waiting_draws(marks, 8)
    execute(units, RunStore(tmp_path / "ray"), engine="ray", workers=3, progress=watch)
    (lost,) = (event for event in events if event.state == "lost")
    assert [name for name, node, _ in begun() if node == victims[0]] == [lost.unit] and "NodeDied" in lost.detail
    assert len(begun()) == 9 and len({node for _, node, _ in begun()}) == 3
    execute(units, RunStore(tmp_path / "local"))
    assert contents(tmp_path / "ray") == contents(tmp_path / "local")
