"""Call the command line in this process."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lbtheory.cli import main

AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
ROWS = "2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:50.9951690,396,109\n2023-11-16 18:15:51.1,100,5\n"


class Result:
    """What a command printed and returned."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        """Standard output as JSON without NaN or infinities."""

        def refuse(name: str) -> None:
            raise AssertionError(f"{name} in the output")

        return json.loads(self.out, parse_constant=refuse)


Call = Callable[..., Result]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Run ``lbtheory`` with these words."""

    def run(*words: Any) -> Result:
        monkeypatch.setattr("sys.argv", ["lbtheory", *map(str, words)])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        return Result(int(stopped.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a file and return its path."""

    def make(content: Any, name: str = "file.csv") -> Path:
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8", newline="")
        return path

    return make


@pytest.fixture
def trace(write: Callable[..., Path]) -> Path:
    """A trace of three requests."""
    return write(AZURE + ROWS, "three.csv")
