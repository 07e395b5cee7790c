"""The engine on Ray: against a stand-in that works in this process, and against a real local Ray (slow)."""

import sys
from types import SimpleNamespace

import pytest
from driven import PATIENCE, start
from example_units import draws

from openworld.core.errors import OpenworldError
from openworld.runs import RunStore, Unit, execute, on_ray

real_ray = pytest.mark.slow


class RayError(Exception):
    """Root of the stand-in's errors, as of Ray's."""


class RayTaskError(RayError):
    cause = None


class WorkerCrashedError(RayError):
    pass


class StandIn:
    """As much of Ray as the engine uses; tasks go on when they are looked at.

    deaths: {name of a unit: how often its worker dies}; gpus, cores: of the cluster, whose tasks wait without cores;
    ready: connected from the start; folder: where tasks write in place of the run's folder.
    """

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError, WorkerCrashedError=WorkerCrashedError)

    def __init__(self, deaths=None, gpus=0, ready=False, broken=False, cores=2.0, folder=None):
        self.deaths, self.gpus, self.ready, self.broken = dict(deaths or {}), gpus, ready, broken
        self.cores, self.folder = cores, folder
        self.calls, self.cancelled, self.most, self.options = [], [], 0, {}

    def is_initialized(self):
        return self.ready

    def init(self, address, **options):
        self.calls.append((address, options))
        if address == "nowhere:1":
            raise ConnectionError("Could not find a Ray. Look elsewhere.")

    def shutdown(self):
        self.calls.append("shutdown")

    def cluster_resources(self):
        return {"CPU": self.cores} | ({"GPU": float(self.gpus)} if self.gpus else {})

    def remote(self, **options):
        self.options = options
        return lambda function: SimpleNamespace(remote=lambda *arguments: self.stream(function, *arguments))

    def stream(self, function, place, unit, wait):
        words = function(place | ({"folder": self.folder} if self.folder else {}), unit, wait)
        if self.broken:
            yield RayTaskError("no module named openworld")
        for word in words:
            yield word
            if word[0] == "started" and self.deaths.get(unit.name):
                self.deaths[unit.name] -= 1
                words.close()
                yield WorkerCrashedError("The worker died. Check the logs.")

    def wait(self, streams, timeout):
        if not self.cores:
            return [], streams
        self.most = max(self.most, len(streams))
        return streams[-1:], streams[:-1]

    def get(self, word):
        if isinstance(word, Exception):
            raise word
        return word

    def cancel(self, stream, force):
        assert force
        stream.close()
        self.cancelled.append(stream)


@pytest.fixture
def stand_in(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)

    def make(**options):
        ray = StandIn(**options)
        monkeypatch.setitem(sys.modules, "ray", ray)
        return ray

    return make


def test_the_bytes_are_those_of_the_local_engine(tmp_path, contents, stand_in):
    ray = stand_in()
    execute(draws(3), RunStore(tmp_path / "ray"), engine="ray", workers=2)
    execute(draws(3), RunStore(tmp_path / "local"))
    assert contents(tmp_path / "ray") == contents(tmp_path / "local")
    assert ray.most == 2 and ray.calls[0][0] == "local" and ray.calls[0][1]["num_cpus"] == 2
    assert ray.calls[-1] == "shutdown" and not ray.cancelled and ray.options["num_gpus"] == 0


def test_a_worker_that_dies_costs_one_unit_which_is_begun_again(tmp_path, stand_in):
    stand_in(deaths={"draw-1": 1})
    events = []
    records = execute(draws(3), RunStore(tmp_path), engine="ray", workers=2, progress=events.append)
    assert len(records) == 3
    (lost,) = (event for event in events if event.state == "lost")
    assert (lost.unit, lost.detail) == ("draw-1", "WorkerCrashedError: The worker died")
    assert sum(event.state == "started" for event in events) == 4


def failing():
    return Unit("example_units:fail", {"message": "no way"}, name="bad")


def test_a_cluster_without_openworld_is_a_failure_too(tmp_path, stand_in):
    stand_in(broken=True)
    with pytest.raises(OpenworldError, match="'draw-0' could not be begun on Ray: no module named openworld"):
        execute(draws(1), RunStore(tmp_path), engine="ray")


def test_an_interrupt_calls_the_tasks_off_and_frees_their_units(tmp_path, stand_in):
    ray, store = stand_in(), RunStore(tmp_path)

    def interrupt(event):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(draws(3), store, engine="ray", workers=2, progress=interrupt)
    assert len(ray.cancelled) == 2 and ray.calls[-1] == "shutdown"
    with store.claim(draws(2)[1], wait=False) as held:
        assert held


def test_a_ray_that_is_there_is_used_and_left_running(tmp_path, stand_in):
    ray = stand_in(ready=True)
    execute(draws(1), RunStore(tmp_path), engine="ray")
    assert ray.calls == []


def test_an_address_is_followed_or_refused(tmp_path, stand_in, monkeypatch):
    ray = stand_in()
    monkeypatch.setenv("RAY_ADDRESS", "node:6379")
    execute(draws(1), RunStore(tmp_path / "there"), engine="ray", workers=5)
    assert ray.calls[0][0] == "node:6379" and "num_cpus" not in ray.calls[0][1] and ray.calls[-1] == "shutdown"
    for address, words in (("nowhere:1", "no Ray answers at .*nowhere.*Could not find a Ray"), ("ray://a:1", "client")):
        monkeypatch.setenv("RAY_ADDRESS", address)
        with pytest.raises(OpenworldError, match=words):
            execute(draws(1), RunStore(tmp_path / "not"), engine="ray")


def on(device, count=1):
    return [Unit("example_units:located", {"n": n}, resources={"machine": {"device": device}}) for n in range(count)]


@pytest.mark.parametrize(
    ("device", "gpus", "workers", "share"),
    [("cpu", 8, 2, 0), ("cuda", 0, 2, 0), ("cuda", 8, 4, 1), ("cuda", 2, 3, 1 / 2), ("cuda", 1, 4, 1 / 4)],
)
def test_units_on_a_gpu_ask_for_their_share_of_one(tmp_path, stand_in, device, gpus, workers, share):
    ray = stand_in(gpus=gpus)
    execute(on(device, workers), RunStore(tmp_path), engine="ray", workers=workers)
    assert ray.options["num_gpus"] == share


@pytest.mark.parametrize(("device", "devices"), [("cuda:1", ()), ("cuda", ("cuda:0", "cuda:1"))])
def test_gpus_are_not_numbered_where_ray_shares_them_out(tmp_path, stand_in, device, devices):
    stand_in(gpus=2)
    with pytest.raises(OpenworldError, match="cuda:1.*give --device cuda"):
        execute(on(device), RunStore(tmp_path), engine="ray", devices=devices)


def test_a_folder_that_the_nodes_do_not_share_is_refused_with_the_first_unit(tmp_path, stand_in, monkeypatch):
    monkeypatch.setattr(on_ray, "_ARRIVAL", 0.0)
    stand_in(folder=str(tmp_path / "of-a-node"))
    with pytest.raises(OpenworldError, match=r"'draw-0' was done by a node .*here.* all nodes share"):
        execute(draws(3), RunStore(tmp_path / "here"), engine="ray")
    assert [RunStore(tmp_path / "of-a-node").has(unit) for unit in draws(3)] == [True, False, False]


def test_a_record_that_shows_late_is_awaited(tmp_path, stand_in, monkeypatch):
    looks, shows = [], RunStore.shows
    late = lambda self, unit: looks.append(unit) or (len(looks) > 2 and shows(self, unit))  # noqa: E731
    monkeypatch.setattr(RunStore, "shows", late)
    stand_in()
    assert len(execute(draws(1), RunStore(tmp_path), engine="ray")) == 1 and len(looks) == 3


def test_a_cluster_without_nodes_ends_the_run_after_a_while(tmp_path, stand_in, monkeypatch):
    monkeypatch.setattr(on_ray, "_AWAITED", 0.0)
    ray = stand_in(cores=0.0)
    with pytest.raises(OpenworldError, match=r"no node with a core .* 3 unit\(s\) are not done; start the run again"):
        execute(draws(3), RunStore(tmp_path), engine="ray", workers=2)
    assert len(ray.cancelled) == 2 and ray.calls[-1] == "shutdown"


def test_tasks_keep_the_cache_where_the_driver_has_it(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENWORLD_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OPENWORLD_DATA", "data")
    variables = on_ray._place_of(RunStore(tmp_path))["variables"]
    assert variables["OPENWORLD_CACHE"] == str(tmp_path / ".cache" / "openworld")
    assert variables["OPENWORLD_DATA"] == "data"


def test_without_ray_the_error_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(OpenworldError, match=r"install it with pip install 'openworld\[ray\]'"):
        execute(draws(1), RunStore(tmp_path), engine="ray")
    assert execute([], RunStore(tmp_path / "none"), engine="ray") == []  # nothing to do needs nobody


# -- a real Ray ---------------------------------------------------------------------------------------


@real_ray
def test_real_workers_killed_and_failing(tmp_path):
    """One Ray for both, as a user's own would be."""
    ray = pytest.importorskip("ray")
    ray.init("local", num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    try:
        events, store = [], RunStore(tmp_path / "run")
        deadly = Unit("example_units:die", {"times": 1}, name="deadly", resources={"folder": str(tmp_path)})
        execute([deadly, *draws(2)], store, engine="ray", workers=2, progress=events.append)
        assert [event.unit for event in events if event.state == "lost"] == ["deadly"]
        assert events[-1].done == 3 and len(list(tmp_path.glob("death-*"))) == 1
        with pytest.raises(OpenworldError, match="unit 'bad' failed with KeyError: 'no way'"):
            execute([failing()], store, engine="ray", workers=2)
        assert ray.is_initialized()
    finally:
        ray.shutdown()


@real_ray
def test_a_real_ray_is_quiet(tmp_path, whole, contents):
    pytest.importorskip("ray")
    process = start("run", tmp_path, 2, 0, "ray", stderr=-1)
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and errors == ""
    words = [f"draw-{n} {word}" for n in range(3) for word in ("started", "finished")]
    assert sorted(output.splitlines()) == sorted(words)
    assert contents(tmp_path) == contents(whole)
