"""Region latencies and length traces of scenarios, in Python and in TOML."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from lbtheory.cells import TokenLaw, TraceLengths, draw_stream, latency_between, sample_scenario, simulate
from lbtheory.cells.calibration import closed_loop_latency
from lbtheory.cells.scenario_file import read_scenario
from lbtheory.cli import app
from lbtheory.core import FileFormatError, InputError, ParameterError, UnknownNameError
from lbtheory.decode.traces import make_trace
from lbtheory.fluid import read_region_latency

REGIONS = ",west,east,south\nwest,1,60,\neast,70,,130\nsouth,90,130,2\n"
TRACE = "num_prefill_tokens,num_decode_tokens\n100,1\n100,1\n1000,400\n"
SCENARIO = """
[scenario]
utilisation = 0.5
duration = 20.0
warmup = 2.0

[[cell]]
name = "a"
servers = 2
prefill_token_time = 0.0002
decode_token_time = 0.0032
region = "west"

[[cell]]
name = "b"
servers = 3
prefill_token_time = 0.0002
decode_token_time = 0.0032
region = "west"

[[cell]]
name = "east"
servers = 4
prefill_token_time = 0.0002
decode_token_time = 0.0032

[network]
regions = "data/regions.csv"

[lengths]
trace = "data/trace.csv"
"""


def write(folder: Path, scenario: str = SCENARIO, regions: str = REGIONS, trace: str = TRACE) -> Path:
    """A scenario with its files in a folder below it."""
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data/regions.csv").write_text(regions, encoding="utf-8")
    (folder / "data/trace.csv").write_text(trace, encoding="utf-8")
    path = folder / "scenario.toml"
    path.write_text(scenario, encoding="utf-8")
    return path


def test_latencies_of_regions(tmp_path: Path) -> None:
    """Half a round trip and the hop, by direction; two cells of a region are its diagonal apart; a blank is no arc."""
    write(tmp_path)
    known = read_region_latency(tmp_path / "data/regions.csv")
    tau = latency_between(known, ["west", "west", "east", "south"], hop=0.001)
    assert tau[0] == pytest.approx([0.0015, 0.0015, 0.031, np.inf])
    assert tau[2] == pytest.approx([0.036, 0.036, 0.001, 0.066])
    assert tau[3] == pytest.approx([0.046, 0.046, 0.066, 0.002])
    with pytest.raises(UnknownNameError, match=r"'wets'.*west"):
        latency_between(known, ["wets"])
    for hop in (-0.1, np.nan, True, "1"):
        with pytest.raises(ParameterError, match="`hop`"):
            latency_between(known, ["west"], hop=hop)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="got none"):
        latency_between(known, [])


def test_scenario_with_both(tmp_path: Path) -> None:
    """Means, capacities and rates follow the trace; tokens come in its pairs; the engine runs over the measured arcs."""
    scenario = read_scenario(write(tmp_path))
    assert scenario.mean_tokens == pytest.approx((400, 134))
    rate = min(1 / (400 * 0.0002), 8 / (134 * 0.0032))
    assert scenario.server_rates == pytest.approx([rate] * 3)
    assert scenario.idle_latencies == pytest.approx([400 * 0.0002 + 134 * 0.0032] * 3)
    assert scenario.utilisation == pytest.approx(0.5)
    assert scenario.latency[0] == pytest.approx([0.001, 0.001, 0.0305])
    assert scenario.latency[2, 0] == pytest.approx(0.0355)
    stream = draw_stream(scenario)
    assert set(zip(stream.prefill.tolist(), stream.decode.tolist(), strict=True)) == {(100, 1), (1000, 400)}
    share = (stream.decode == 400).mean()
    assert abs(share - 1 / 3) < 5 * (2 / 9 / len(stream)) ** 0.5
    run = simulate(scenario, "rand", stream=stream)
    assert run.done.all() and set(run.cell.tolist()) == {0, 1, 2}
    assert (run.returned - run.arrival >= run.latency * 2 + 0.02).all()


def test_arrivals_do_not_depend_on_the_lengths(tmp_path: Path) -> None:
    """A trace of equal pairs: the same arrivals and keys as under the laws when rates are given."""
    plain = sample_scenario(3, cells=2, duration=5.0, warmup=0.0)
    traced = plain.changed(lengths=TraceLengths.of(make_trace([7, 7], [9, 9])))
    ours, theirs = draw_stream(traced), draw_stream(plain)
    assert (ours.arrivals == theirs.arrivals).all() and (ours.keys == theirs.keys).all()
    assert (ours.prefill == 7).all() and (ours.decode == 9).all()


def test_closed_loop_on_a_trace() -> None:
    """One request in a cell: N/throughput is the mean idle latency of the trace."""
    trace = TraceLengths.of(make_trace([100, 300], [10, 50]))
    scenario = sample_scenario(0, cells=2, spread=0.0, duration=5.0, warmup=0.0, lengths=trace)
    assert scenario.utilisation == pytest.approx(0.8)
    idle = 200 * 0.0002 + 30 * 0.0032
    assert closed_loop_latency(scenario, 0, 1, completions=4000) == pytest.approx(idle, rel=5 * 0.6 / 4000**0.5)


def test_law_and_trace_of_the_law_agree() -> None:
    """A long trace drawn from the default laws has their means."""
    rng = np.random.default_rng(0)
    trace = TraceLengths(prefill=TokenLaw().draw(rng, 100_000), decode=TokenLaw(shift=20, scale=90).draw(rng, 100_000))
    assert trace.means == pytest.approx(sample_scenario(0, cells=2).mean_tokens, rel=0.01)


@pytest.mark.parametrize(
    ("prefill", "decode", "what"),
    [
        ([], [], "at least one"),
        ([1.5], [1], "whole numbers"),
        ([[1]], [1], "one dimension"),
        ([1, 0], [1, 1], "got 0 at index 1"),
        ([1], [-3], "`decode`.*got -3"),
        ([2**31], [1], "got 2147483648"),
        ([1, 2], [1], "as long"),
    ],
)
def test_bad_lengths(prefill: list[int], decode: list[int], what: str) -> None:
    """Tokens that the engine's table could not hold, and shapes that do not fit."""
    with pytest.raises(ParameterError, match=what):
        TraceLengths(prefill=np.array(prefill), decode=np.array(decode))


BAD = [
    ('regions = "data/regions.csv"', 'regions = "data/none.csv"', "none.csv"),
    ('regions = "data/regions.csv"', "regions = 3", "`regions` must be a text"),
    ('regions = "data/regions.csv"', "", "one of `latency` and `regions`"),
    ('regions = "data/regions.csv"', 'regions = "data/regions.csv"\nlatency = [[0.0]]', "one of `latency` and `regions`"),
    ('regions = "data/regions.csv"', "latency = [[0.0,0.0,0.0],[0.0,0.0,0.0],[0.0,0.0,0.0]]", "`region` of a cell"),
    ('regions = "data/regions.csv"', 'regions = "data/regions.csv"\nhop = -1.0', "`hop`"),
    ('regions = "data/regions.csv"', 'regions = "data/regions.csv"\nsymmetry = "meen"', "meen"),
    ('regions = "data/regions.csv"', 'regoins = "data/regions.csv"', "regions"),
    ('region = "west"', 'region = "wets"', "line 12.*'wets'.*west"),
    ('region = "west"', "region = 1", "`region` must be a text"),
    ('name = "east"', 'name = "eats"', "'eats'.*east"),
    ('trace = "data/trace.csv"', 'trace = "data/none.csv"', "none.csv"),
    ('trace = "data/trace.csv"', "", "'trace' is missing"),
    ('trace = "data/trace.csv"', "trace = 1", "`trace` must be a text"),
    ('trace = "data/trace.csv"', 'trace = "data/trace.csv"\nformat = "azur"', "azur"),
    ('trace = "data/trace.csv"', 'trace = "data/trace.csv"\nformt = "azure"', "format"),
]


@pytest.mark.parametrize(("old", "new", "what"), BAD)
def test_bad_files(tmp_path: Path, old: str, new: str, what: str) -> None:
    """One message that names the file; exit code 2 on the command line."""
    path = write(tmp_path, SCENARIO.replace(old, new, 1))
    with pytest.raises(FileFormatError, match=what):
        read_scenario(path)
    answer = CliRunner().invoke(app, ["cells", str(path), "--policy", "rand"])
    assert isinstance(answer.exception, InputError) or answer.exit_code == 2, answer.output


def test_bad_measurements(tmp_path: Path) -> None:
    """What is wrong inside the measured files names them and the line."""
    with pytest.raises(FileFormatError, match=r"regions\.csv.*line 3"):
        read_scenario(write(tmp_path, regions=REGIONS.replace("70", "x")))
    with pytest.raises(FileFormatError, match=r"trace\.csv.*line 3"):
        read_scenario(write(tmp_path, trace=TRACE.replace("100,1\n100,1", "100,1\n-5,1")))
    with pytest.raises(FileFormatError, match="trace"):
        read_scenario(write(tmp_path, trace="num_prefill_tokens,num_decode_tokens\n"))


def test_sampled_cells_on_a_trace(tmp_path: Path) -> None:
    """Sampled cells take the lengths too, and their rates give the utilisation."""
    columns = "prompt=num_prefill_tokens,output=num_decode_tokens"
    text = f'[scenario]\ncells = 3\nutilisation = 0.6\n[lengths]\ntrace = "data/trace.csv"\ncolumns = "{columns}"\n'
    scenario = read_scenario(write(tmp_path, text))
    assert scenario.utilisation == pytest.approx(0.6)
    assert scenario.mean_tokens == pytest.approx((400, 134))
