"""Network files: reading, writing, and the line of every mistake."""

from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lbtheory.core import FileFormatError
from lbtheory.core.toml_file import toml_line
from lbtheory.fluid import Cell, Network, Source, make_rate, network_to_toml, read_network

TEXT = """\
# two cells
[[cell]]
name = "west"
arrival_rate = 1.6            # requests per second, 0 allowed
replicas = 4
rate = {family = "mm1", capacity = 2.0, half = 1.0}

[[cell]]
name = "east"
arrival_rate = 0
[cell.rate]
family = "hill"
capacity = 1.5
half = 0.5
power = 0.75

[[source]]
name = "edge"
arrival_rate = 0.25

[network]
latency = [
  [0.0, 0.1],   # west
  [0.1, 0.0],
  [0.2, inf],
]
allowed = [["west", "east"],
           ["east"],
           ["west"]]
"""


def reading(folder: Path, text: str) -> Network:
    """The network of a text."""
    path = folder / "network.toml"
    path.write_text(text, encoding="utf-8")
    return read_network(path)


def test_the_format(tmp_path: Path) -> None:
    """Every key of the format, inline and as a table."""
    network = reading(tmp_path, TEXT)
    assert network.source_names == ("west", "east", "edge") and network.arrivals.tolist() == [1.6, 0, 0.25]
    assert network.replicas.tolist() == [4, 1] and network.latency.tolist() == [[0, 0.1], [0.1, 0], [0.2, inf]]
    assert network.allowed.tolist() == [[True, True], [False, True], [True, False]]
    assert network.cells[1].rate == make_rate({"family": "hill", "capacity": 1.5, "half": 0.5, "power": 0.75})


def test_by_default_every_finite_latency_is_allowed(tmp_path: Path) -> None:
    """Without ``allowed``; a byte-order mark and Windows line ends are read too."""
    text = TEXT[: TEXT.index("allowed =")].replace("\n", "\r\n")
    network = reading(tmp_path, "\ufeff" + text)
    assert network.allowed.tolist() == [[True, True], [True, True], [True, False]]


WRONG: list[tuple[str, str, int, str]] = [  # replaced, by, line, message
    ("replicas = 4", "replica = 4", 5, "unknown key 'replica'.*Did you mean 'replicas'"),
    ("replicas = 4", "replicas = 0", 5, "`replicas` of cell 'west' must be a whole number"),
    ("arrival_rate = 1.6 ", "arrival_rate = -1.6 ", 4, "`arrival_rate` of cell 'west' must be finite and ≥ 0"),
    ("arrival_rate = 1.6 ", "arrival_rate = nan ", 4, "`arrival_rate` of cell 'west'"),
    ("arrival_rate = 0.25\n", 'arrival_rate = "many"\n', 19, "`arrival_rate` of source 'edge'"),
    ('name = "east"', 'name = "west"', 9, "names of cells and sources must differ; got 'west' again"),
    ('name = "edge"', 'name = "east"', 18, "got 'east' again"),
    ('name = "east"\n', "", 8, "the key 'name' is missing"),
    ("half = 1.0}", "haf = 1.0}", 6, "unknown parameter of the rate family 'mm1' 'haf'.*Did you mean 'half'"),
    (", half = 1.0}", "}", 6, "'mm1' must have capacity, half; missing: half"),
    ('family = "mm1"', 'family = "mm11"', 6, "unknown rate family 'mm11'.*Did you mean 'mm1'"),
    ('family = "mm1", ', "", 6, 'with the key "family"'),
    ("half = 0.5", "half = -0.5", 14, "`half` of `hill` must be positive"),
    ("power = 0.75", "powr = 0.75", 15, "'powr'.*Did you mean 'power'"),
    ("[network]", "[netwrk]", 21, "unknown key 'netwrk'.*Did you mean 'network'"),
    ("latency = [", "latencies = [", 22, "unknown key 'latencies'.*Did you mean 'latency'"),
    ("[0.1, 0.0]", "[0.1, nan]", 24, "`latency` from 'east' to 'east'.*got nan"),
    ("[0.1, 0.0]", "[-0.1, 0.0]", 24, "`latency` from 'east' to 'west'.*got -0.1"),
    ("[0.1, 0.0]", "[0.1]", 24, "row 1 of `latency` .* must have 2 entries"),
    ("  [0.2, inf],\n", "", 22, "`latency` of `Network` must have 3 rows"),
    ('["east"],', '["eas"],', 28, "unknown cell 'eas'.*Did you mean 'east'"),
    ('["east"],', '"east",', 28, "row 1 of `allowed` must be a list of cell names"),
    ('["west"]]', '["west", "east"]]', 29, "`latency` from 'edge' to 'east' must be finite"),
    ('["west", "east"]', "[]", 2, "source 'west' must have an admissible cell"),
    ('["west"]]', "[]]", 17, "source 'edge' must have an admissible cell"),
    ("[network]", "[network", 21, "not valid TOML"),
    ("replicas = 4", "replicas = 4\nreplicas = 5", 6, "not valid TOML"),
    ("[[source]]", "[source]", 17, r"`source` must be a list of tables: write \[\[source\]\]"),
    ("[[cell]]", "[cell]", 8, "not valid TOML"),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), WRONG, ids=[f"{new[:24]!r}" for _, new, _, _ in WRONG])
def test_mistakes_have_a_line(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    """One change to a good file; the error names the file, the line and the nearest name."""
    assert old in TEXT
    with pytest.raises(FileFormatError, match=message) as caught:
        reading(tmp_path, TEXT.replace(old, new))
    assert caught.value.line == line and f"network.toml, line {line}: " in str(caught.value) and caught.value.exit_code == 2


def test_files_that_are_none(tmp_path: Path) -> None:
    """Missing, no text, empty, without cells, too deep."""
    with pytest.raises(FileFormatError, match=r"none\.toml: cannot be read"):
        read_network(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileFormatError, match="is not UTF-8"):
        read_network(tmp_path / "bytes.toml")
    with pytest.raises(FileFormatError, match="the key 'cell' is missing"):
        reading(tmp_path, "")
    with pytest.raises(FileFormatError, match="the key 'network' is missing"):
        reading(tmp_path, TEXT[: TEXT.index("[network]")])
    with pytest.raises(FileFormatError, match="`network` must be one table") as caught:
        reading(tmp_path, TEXT[: TEXT.index("[network]")] + "[[network]]\nlatency = [[0]]\n")
    assert caught.value.line == 21


def test_lines_of_every_toml_form() -> None:
    """Strings with brackets and quotes, comments, dotted and quoted keys, inline tables, nested arrays."""
    text = """\
top = "a # [b]"   # [c]
'quo ted'."x\\u0041" = '''
[not.a.table]
k = 1'''
[[cell]]   # first
a.b = {c = [1, 2], d = "}"}
list = [ # comment ]
  "[", ',',
  {e = 1}, 7 ]
[[ cell ]]
[cell . rate]
x = \"\"\"
"" ]\"\"\"
y = 1
[network]
z = [[1],
 [2]]
"""
    expected: dict[tuple[Any, ...], int] = {
        ("top",): 1,
        ("quo ted", "xA"): 2,
        ("cell", 0): 5,
        ("cell", 0, "a", "b", "c"): 6,
        ("cell", 0, "list", 0): 8,
        ("cell", 0, "list", 1): 8,
        ("cell", 0, "list", 2): 9,
        ("cell", 0, "list", 3): 9,
        ("cell", 1): 10,
        ("cell", 1, "rate"): 11,
        ("cell", 1, "rate", "y"): 14,
        ("network", "z", 1): 17,
        ("network", "absent"): 15,
    }
    assert {place: toml_line(text, place) for place in expected} == expected
    assert toml_line(text, ("nowhere",)) is None


RATES = [
    {"family": "mm1", "capacity": 0.1, "half": 1e-6},
    {"family": "smooth_min", "service": 0.3, "slots": 8.0, "half": 1e6},
    {"family": "exponential", "capacity": 1 / 3, "scale": 2.0},
    {"family": "hill", "capacity": 5.0, "half": 1.0, "power": 2.0},
    {"family": "mmc", "service": 0.1, "servers": 7},
    {"family": "softplus", "a": 1.0, "b": 0.1, "k": 8.0, "w": 2.0},
    {"family": "capped_linear", "service": 0.1, "slots": 3.0},
    {"family": "table", "points": [[1.0, 0.5], [2.0, 0.9]], "capacity": 1.5},
    {"family": "table", "points": [[1.0, 0.5]]},
]


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_round_trip(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is written is read back to the same bits, names of any printable kind included."""
    n, more = data.draw(st.integers(1, 4)), data.draw(st.integers(0, 2))
    name = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8).map(lambda text: text + " é\"'\\")
    names = data.draw(st.lists(name, min_size=n + more, max_size=n + more, unique=True))
    rates = st.floats(0, 1e9) | st.just(0.0)
    times = np.array(data.draw(st.lists(st.floats(0, 1e3), min_size=n * (n + more), max_size=n * (n + more))))
    times = times.reshape(n + more, n)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=times.size, max_size=times.size))).reshape(times.shape)
    mask[:n] |= np.eye(n, dtype=bool)
    mask[:, 0] = True
    times[~mask & (times > 10)] = inf
    network = Network(
        cells=tuple(
            Cell(
                name=names[i],
                arrival_rate=data.draw(rates),
                replicas=data.draw(st.integers(1, 99)),
                rate=make_rate(data.draw(st.sampled_from(RATES))),
            )
            for i in range(n)
        ),
        sources=tuple(Source(name=names[n + i], arrival_rate=data.draw(rates)) for i in range(more)),
        latency=times,
        allowed=mask,
    )
    path = tmp_path_factory.mktemp("round") / "n.toml"
    path.write_text(network_to_toml(network), encoding="utf-8")
    back = read_network(path)
    assert back.cells == network.cells and back.sources == network.sources
    assert np.array_equal(back.latency, network.latency) and np.array_equal(back.allowed, network.allowed)
