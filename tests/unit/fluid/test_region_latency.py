"""Region latencies from CSV: what is assumed is said, what is wrong is refused with its line."""

from math import inf, nan
from pathlib import Path

import numpy as np
import pytest

from lbtheory.core import FileFormatError, InputError, ParameterError, UnknownNameError
from lbtheory.fluid import Cell, NetworkError, RegionLatency, Source, make_rate, network_from_latency, read_region_latency

SMALL = "Source,a,b,c\na,,10,20\nb,14,,\nc,20,30,2\n"
RATE = make_rate({"family": "mm1", "capacity": 2.0, "half": 1.0})


def write(folder: Path, text: str) -> Path:
    """A CSV file."""
    path = folder / "rtt.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_small_file(tmp_path: Path) -> None:
    """Halves in seconds, a default diagonal, a missing arc, both directions kept."""
    found = read_region_latency(write(tmp_path, SMALL), diagonal=1)
    assert found.regions == ("a", "b", "c")
    assert found.one_way.tolist() == [[0.0005, 0.005, 0.01], [0.007, 0.0005, inf], [0.01, 0.015, 0.001]]
    assert (found.blanks, found.asymmetric, found.largest_difference) == (1, 1, 0.004)
    assert len(found.notes) == 4 and found.notes[0].startswith("One-way latency is half of the round trip: an assumption")
    assert "2 blank diagonal entries are set to a round trip of 1 ms." in found.notes
    assert (
        "1 pairs differ between their directions, by up to 4 ms, and 1 have one direction only: kept as they are."
        in found.notes
    )
    assert "1 entries off the diagonal are blank; 1 arcs are missing." in found.notes
    assert not found.one_way.flags.writeable


@pytest.mark.parametrize(("rule", "trip"), [("mean", 12.0), ("larger", 14.0)])
def test_symmetry(tmp_path: Path, rule: str, trip: float) -> None:
    """One value for both directions, also where one was blank; the notes say so."""
    found = read_region_latency(write(tmp_path, SMALL), symmetry=rule)
    assert np.array_equal(found.one_way, found.one_way.T)
    assert found.one_way[0, 1] == trip / 2000 and found.one_way[1, 2] == 0.015 and found.blanks == 1
    assert "1 entries off the diagonal are blank; 0 arcs are missing." in found.notes


def test_short_rows(tmp_path: Path) -> None:
    """A row that lost values is left out by default, padded or refused on request, and named with its line."""
    path = write(tmp_path, "s,a,b,c\na,0,1,2\nb,1,0\nc,2,1,0\n")
    omitted, padded = read_region_latency(path), read_region_latency(path, short_rows="pad")
    assert np.isinf(omitted.one_way[1]).tolist() == [True, False, True] and omitted.blanks == 2
    assert np.isinf(padded.one_way[1]).tolist() == [False, False, True] and padded.blanks == 1
    assert "'b' (line 3); all their values are left out" in omitted.notes[1] and "at their ends" in padded.notes[1]
    with pytest.raises(FileFormatError, match="line 3: row 'b' must have 3 values; got 2"):
        read_region_latency(path, short_rows="refuse")


WRONG = [
    ("", 1, "must have a header"),
    ("Source\n", 1, "must have a header"),
    ("s,a,b\na,0,1\n", 2, "must be square: the header names 2 regions and 1 rows follow"),
    ("s,a,b\n\na,0,1\nc,1,0\n", 4, "in the order of the header: expected 'b', got 'c'"),
    ("s,a,a\na,0,1\na,1,0\n", 1, "must differ and not be blank; got 'a'"),
    ("s,a,\na,0,1\n,1,0\n", 1, "must differ and not be blank; got ''"),
    ("s,a,b\na,0,1\nb,1,0,3\n", 3, "row 'b' must have 2 values; got 3"),
    ("s,a,b\na,0,one\nb,1,0\n", 2, "from 'a' to 'b' must be milliseconds ≥ 0, or blank; got 'one'"),
    ("s,a,b\na,0,1\nb,-1,0\n", 3, "from 'b' to 'a' must be .*; got '-1'"),
    ("s,a,b\na,0,nan\nb,1,0\n", 2, "got 'nan'"),
    ("s,a,b\na,0,inf\nb,1,0\n", 2, "got 'inf'"),
]


@pytest.mark.parametrize(("text", "line", "message"), WRONG, ids=[message[:30] for _, _, message in WRONG])
def test_mistakes_have_a_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    """Each one names the file and the line."""
    with pytest.raises(FileFormatError, match=message) as caught:
        read_region_latency(write(tmp_path, text))
    assert caught.value.line == line and "rtt.csv" in str(caught.value)


def test_bad_arguments(tmp_path: Path) -> None:
    """Rules that do not exist, a diagonal that is no time, no file."""
    path = write(tmp_path, SMALL)
    with pytest.raises(UnknownNameError, match=r"unknown symmetry rule 'larg'.*Did you mean 'larger'"):
        read_region_latency(path, symmetry="larg")
    with pytest.raises(UnknownNameError, match="unknown rule for short rows 'omitt'"):
        read_region_latency(path, short_rows="omitt")
    for bad in (-1, nan, inf, "0"):
        with pytest.raises(ParameterError, match="`diagonal`"):
            read_region_latency(path, diagonal=bad)  # type: ignore[arg-type]
    with pytest.raises(FileFormatError, match="cannot be read"):
        read_region_latency(tmp_path / "none.csv")


@pytest.fixture(scope="module")
def azure(shared_data: Path) -> Path:
    """The public matrix of 51 regions."""
    return shared_data / "azure_region_rtt" / "azure_region_rtt_p50_ms.csv"


def test_public_matrix(azure: Path) -> None:
    """Two of its rows are short: padded, as most readers do, directions seem to differ by up to 206 ms, without them by 6."""
    padded = read_region_latency(azure, short_rows="pad")
    assert (len(padded.regions), padded.blanks, padded.asymmetric) == (51, 108, 608)
    assert padded.largest_difference == pytest.approx(0.206)
    assert "'Indonesia Central' (line 18), 'Jio India West' (line 23)" in padded.notes[1]
    found = read_region_latency(azure)
    assert (found.blanks, found.asymmetric) == (161, 596) and found.largest_difference == pytest.approx(0.006)
    i, j = found.regions.index("Malaysia West"), found.regions.index("Jio India West")
    assert found.one_way[i, j] == 0.038 and found.one_way[j, i] == inf and found.one_way[i, i] == 0


def regions(azure: Path) -> RegionLatency:
    """The public matrix with one value for both directions."""
    return read_region_latency(azure, symmetry="mean")


def test_network_of_regions(azure: Path) -> None:
    """Cells and sources by name, in the caller's order; arcs that are missing are not admissible."""
    cells = [Cell(name=name, arrival_rate=1, rate=RATE) for name in ("West US", "Jio India West", "France Central")]
    sources = [Source(name="East US", arrival_rate=2)]
    network = network_from_latency(regions(azure), cells, sources=sources)
    assert network.latency.shape == (4, 3) and network.latency[0, 0] == 0
    france = regions(azure).regions.index("France Central")
    assert network.latency[3, 2] == regions(azure).one_way[regions(azure).regions.index("East US"), france]
    assert network.allowed.tolist() == [[True, False, True], [False, True, False], [True, False, True], [True, False, True]]


def test_network_of_unknown_regions(azure: Path) -> None:
    """The nearest region is offered; what `Network` refuses is refused."""
    with pytest.raises(UnknownNameError, match=r"unknown region 'Frence Central'.*Did you mean 'France Central'"):
        network_from_latency(regions(azure), [Cell(name="Frence Central", arrival_rate=1, rate=RATE)])
    cells = [Cell(name=name, arrival_rate=1, rate=RATE) for name in ("West US", "East US")]
    with pytest.raises(NetworkError, match="cell 'East US' must have an in-neighbour"):
        network_from_latency(regions(azure), cells, allowed=[[True, False], [True, False]])
    with pytest.raises(InputError, match="must differ"):
        network_from_latency(regions(azure), [cells[0], cells[0]])
