"""What the README shows works as it stands."""

import re
import shlex
from pathlib import Path

import pytest

from lbtheory.cli import main

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_python_example(capsys: pytest.CaptureFixture[str]) -> None:
    """BR-0 on the README's stream leaves less than a third of Count-JSQ's 343.04 (exact law)."""
    [code] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    assert 0 < float(capsys.readouterr().out) < 343.04 / 3


def test_commands_of_the_table_exist() -> None:
    """Every ``lbtheory`` command of the table answers ``--help``."""
    commands = re.findall(r"^\| `lbtheory ([^`]*)`", README, re.MULTILINE)
    assert len(commands) >= 5
    for command in commands:
        words = shlex.split(command)
        name = words[:2] if words[0] == "trace" else words[:1]
        with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as stopped:
            patch.setattr("sys.argv", ["lbtheory", *name, "--help"])
            main()
        assert stopped.value.code == 0


def test_links_and_pictures_exist() -> None:
    """Relative files that the README points to are in the project."""
    for target in [*re.findall(r"\]\(([^)#:]+)\)", README), "CITATION.cff", "CHANGELOG.md"]:
        assert (Path(__file__).parents[2] / target).exists(), target


def test_network_example(tmp_path: Path) -> None:
    """The README's network is read as it stands, and its equilibria are certified by the fast method."""
    from lbtheory.fluid import COSTS, read_network
    from lbtheory.fluid.equilibrium import equilibrium

    [text] = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    path = tmp_path / "network.toml"
    path.write_text(text, encoding="utf-8")
    for cost in COSTS:
        assert equilibrium(read_network(path), cost, method="fast").relative_gap < 1e-9
