"""Small specs of an OOD benchmark, and runs of them in this process."""

from openworld.evaluations import evaluation_of, read_protocol
from openworld.evaluations.artifacts import Crew
from openworld.evaluations.runtime import Machine
from openworld.ood.benchmark.evaluation import EVALUATION
from openworld.runs import RunStore, execute

RECIPE = {"epochs": 1, "side": 28, "batch_size": 8}


def spec_of(places, models, **changed):
    inside, other = places
    return read_protocol(
        {
            "protocol": "ood-benchmark",
            "sources": [{"dataset": str(inside)}],
            "sets": [
                {"dataset": str(other), "part": "test", "group": "near", "name": "inverted"},
                {"dataset": str(inside), "part": "test", "corruption": "fog", "severity": 5, "group": "covariate"},
            ],
            "validation_sets": [{"dataset": str(other), "part": "validation"}],
            "seeds": [0],
            "shots": None,
            "replicates": 0,
            "models": models,
        }
        | changed
    )


def run(spec, folder, cache=None):
    machine = Machine(cache=str(cache or folder / "cache"))
    for stage in evaluation_of(spec).artifacts(spec, machine):
        stage.work(Crew("local", 1, folder), None)
    evaluation_of(spec).require(spec.tasks, machine)
    return execute(EVALUATION.units(spec, machine), RunStore(folder / "run"))
