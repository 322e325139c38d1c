"""Simulations from one TOML file: parameters, sessions, demand, schedules; what they refuse; the command."""

import json
from dataclasses import fields

import numpy as np
import pytest
from typer.testing import CliRunner

from lbtheory.cells import (
    CapacityStep,
    Demand,
    Parameters,
    Policy,
    PolicySchedule,
    Sessions,
    Stage,
    TokenLaw,
    draw_stream,
    make_policy,
    make_schedule,
    sample_scenario,
    simulate,
)
from lbtheory.cells.setup_file import read_setup
from lbtheory.cli import app
from lbtheory.core import FileFormatError, ParameterError, UnknownNameError

SAMPLED = """
[scenario]
cells = 3
duration = 30.0
warmup = 5.0

[sampler]
servers = 2.0
regions = 1

[prefill_tokens]
shape = 1.0

[demand]
ramp_from = 0.5
ramp_end = 20.0

[parameters]
queue = 5
decode_engines = 1
affinity = "conditional"

[sessions]
length = 5.0

[calibration]
completions = 200

[[capacity]]
cell = "cell-1"
time = 10.0
servers = 3

[[stage]]
policy = "mnlb"

[[stage]]
policy = "flow-lat"
start = 10
ramp = 5.0
"""


def written(tmp_path, text):
    path = tmp_path / "s.toml"
    path.write_text(text)
    return path


def test_file(tmp_path):
    found = read_setup(written(tmp_path, SAMPLED))
    s = found.scenario
    assert found.parameters == Parameters(queue=5, decode_engines=1, affinity="conditional")
    assert found.sessions == Sessions(length=5.0) and found.completions == 200
    assert found.schedule is not None and found.schedule.name == "mnlb,flow-lat@10+5"
    assert s.decode_slots == 4 and abs(s.utilisation - 0.8) < 1e-12
    assert s.prefill_tokens == TokenLaw(shape=1.0) and s.demand == Demand(ramp_from=0.5, ramp_end=20.0)
    assert s.capacity == (CapacityStep(time=10.0, cell=1, servers=3),)
    assert len(read_setup(written(tmp_path, "[scenario]\ncells = 3\n")).scenario.cells) == 3


@pytest.mark.parametrize(
    "field", [f for f in fields(Parameters) if f.default is not None and f.name != "affinity"], ids=lambda f: f.name
)
def test_every_parameter_can_be_set(tmp_path, field):
    text = (
        {True: "true", False: "false"}.get(field.default, field.default) if isinstance(field.default, bool) else field.default
    )
    found = read_setup(written(tmp_path, f"[scenario]\ncells = 2\n[parameters]\n{field.name} = {text}\n"))
    assert found.parameters == Parameters()


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("queue = 5", "queues = 5", "queue"),
        ("queue = 5", "queue = -1", "≥ 0"),
        ("queue = 5", 'queue = "many"', "whole number"),
        ("queue = 5", "aversion = 1", "true or false"),
        ("queue = 5", "probe_period = nan", "finite"),
        ('affinity = "conditional"', 'affinity = "conditionel"', "conditional"),
        ("[sessions]\nlength = 5.0", "", "needs .sessions."),
        ("length = 5.0", "lenght = 5.0", "length"),
        ("length = 5.0", "active = 2.5", "whole number"),
        ("length = 5.0", "share = 1.5", "share"),
        ("completions = 200", "completions = 0", "≥ 1"),
        ("completions = 200", "levels = [1, -2, 3, 4]", "> 0"),
        ("servers = 2.0", "servers = 0.0", "> 0"),
        ("servers = 2.0", "square = -1.0", "≥ 0"),
        ("regions = 1", "region = 1", "regions"),
        ("shape = 1.0", "shape = -1.0", "shape"),
        ("shape = 1.0", 'scale = "big"', "number"),
        ("shape = 1.0", "scale = -225.0", "scale"),
        ("ramp_end = 20.0", "ramp_end = -1.0", "ramp_end"),
        ("ramp_end = 20.0", "waves = 0.5", "wave"),
        ('cell = "cell-1"', 'cell = "cell-9"', "cell-"),
        ("servers = 3", "servers = 0", "≥ 1"),
        ("time = 10.0", "when = 10.0", "time"),
        ("queue = 5", "autoscale = true", "autoscaler"),
        ('policy = "flow-lat"', 'policy = "flow-late"', "flow-lat"),
        ("start = 10", "start = 0", "after"),
        ("ramp = 5.0", "ramp = -5.0", "≥ 0"),
        ('[[stage]]\npolicy = "mnlb"', '[[stage]]\npolicy = "mnlb"\nstart = 5.0', "start at 0"),
        ("[demand]", "[demands]", "demand"),
    ],
)
def test_bad_files(tmp_path, old, new, message):
    """The message, and the line: that of the new text, or of what it contradicts."""
    assert old in SAMPLED
    text = SAMPLED.replace(old, new, 1)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_setup(written(tmp_path, text))
    line = text.splitlines()[caught.value.line - 1]
    assert line == {"": 'affinity = "conditional"', "autoscale = true": "[[capacity]]"}.get(
        new, new.splitlines()[-1] if new else ""
    )


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: make_schedule("mnlb,flow-grad"), ParameterError, "NAME,NAME@START"),
        (lambda: make_schedule("mnlb@5"), ParameterError, "NAME,NAME@START"),
        (lambda: make_schedule("mnlb,flow-grad@1.2.3"), ParameterError, "numbers"),
        (lambda: make_schedule("mnlb,flow-gard@5"), UnknownNameError, "flow-grad"),
        (lambda: make_schedule("mnlb,rand@5+10,flow-rif@12"), ParameterError, "after"),
        (lambda: make_schedule(3), ParameterError, "text"),
        (lambda: PolicySchedule(stages=()), ParameterError, "at least one"),
        (lambda: Stage(policy=make_policy("rand"), start=float("inf")), ParameterError, "finite"),
        (lambda: CapacityStep(time=-1.0, cell=0, servers=1), ParameterError, "time"),
        (
            lambda: sample_scenario(1, cells=2).changed(capacity=(CapacityStep(time=1.0, cell=2, servers=1),)),
            ParameterError,
            "below 2",
        ),
        (
            lambda: sample_scenario(1, cells=2).changed(capacity=2 * (CapacityStep(time=1.0, cell=1, servers=1),)),
            ParameterError,
            "two",
        ),
        (lambda: simulate(sample_scenario(1, cells=2), "rand,disc-lat@5"), ParameterError, "needs latency models"),
    ],
)
def test_bad_schedules(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_schedules_have_names():
    one = make_schedule("flow-grad")
    assert (
        one.name == "flow-grad"
        and one.policies == (make_policy("flow-grad"),)
        and one == make_schedule(make_policy("flow-grad"))
    )
    assert isinstance(one.policies[0], Policy) and make_schedule(one) is one
    assert make_schedule(" disc-rif , disc-grad@60+120.5 ").name == "disc-rif,disc-grad@60+120.5"


def test_switch_takes_over():
    """Before the switch requests go as under the first policy alone; MNLB's demand is that of all requests afterwards too."""
    scenario = sample_scenario(3, cells=3, duration=40.0, warmup=0.0)
    mnlb, both = simulate(scenario, "mnlb"), simulate(scenario, "mnlb,disc-rif@25")
    early = mnlb.arrival < 25
    np.testing.assert_array_equal(mnlb.cell[early], both.cell[early])
    assert (mnlb.cell[~early] != both.cell[~early]).mean() > 0.2
    assert simulate(scenario, "disc-rif,disc-rif@25").cell.tolist() == simulate(scenario, "disc-rif").cell.tolist()


def test_ramp_share():
    """Half of a ramp from local to remote routing: the share of the second policy is linear (4 standard deviations)."""
    scenario = sample_scenario(2, cells=2, duration=60.0, warmup=0.0, utilisation=0.3).changed(
        allowed=np.array([[True, True], [True, True]])
    )
    a, b = simulate(scenario, "rand"), simulate(scenario, "rand,hot-cold@10+40", models="estimate")
    for low, high in ((10, 30), (30, 50)):
        here = (a.arrival >= low) & (a.arrival < high)
        moved = (a.cell[here] != b.cell[here]).mean()
        other = (a.cell[here] != simulate(scenario, "hot-cold", models="estimate").cell[here]).mean()
        wanted = other * ((low + high) / 2 - 10) / 40
        assert abs(moved - wanted) < 0.06
    np.testing.assert_array_equal(a.cell[a.arrival < 10], b.cell[b.arrival < 10])


def test_demand_ramps():
    """Counts on both halves of a ramp from 20 % to 100 %: 4 standard deviations of a Poisson number."""
    scenario = sample_scenario(
        1, cells=2, duration=200.0, warmup=0.0, demand=Demand(ramp_from=0.2, ramp_start=50, ramp_end=150)
    )
    times, rate = draw_stream(scenario).arrivals, scenario.arrivals.sum()
    for low, high, mean in ((0, 50, 0.2), (50, 100, 0.4), (100, 150, 0.8), (150, 200, 1.0)):
        wanted = 50 * mean * rate
        assert abs(((times >= low) & (times < high)).sum() - wanted) < 4 * np.sqrt(wanted)


def test_command(tmp_path):
    path = str(written(tmp_path, SAMPLED))
    run = CliRunner().invoke(app, ["cells", path, "--json"])
    assert run.exit_code == 0, run.output
    answer = json.loads(run.stdout)
    assert list(answer["policies"]) == ["mnlb,flow-lat@10+5"] and answer["config"]["parameters"]["queue"] == 5
    assert answer["config"]["sessions"]["length"] == 5.0 and answer["config"]["capacity_steps"] == 1
    both = CliRunner().invoke(app, ["cells", path, "--policy", "rand", "--policy", "schedule", "--models", "calibrated"])
    assert both.exit_code == 0 and "mnlb,flow-lat@10+5" in both.stdout
    bare = str(written(tmp_path, "[scenario]\ncells = 2\nduration = 10.0\nwarmup = 1.0\n"))
    for options, message in (([], "--policy"), (["--policy", "schedule"], "stage"), (["--policy", "mnlb,x@3"], "policy")):
        bad = CliRunner().invoke(app, ["cells", bare, *options])
        assert bad.exit_code != 0 and message in str(bad.exception or bad.output)


def test_help_has_examples():
    text = CliRunner().invoke(app, ["cells", "--help"]).stdout
    assert "Examples" in text and "mnlb,flow-grad@180" in text and "[[stage]]" in text
