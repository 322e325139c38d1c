"""One cell in a process of its own, so that it can be stopped: reads the cell as JSON, writes the attempt as JSON."""

import contextlib
import json
import subprocess
import sys
import time

from lbtheory.study.discovery import Cell
from lbtheory.study.store import dump
from lbtheory.study.work import Attempt, attempt, lost, out_of_time


def attempt_within(cell: Cell, time_limit: float) -> Attempt:
    """`attempt` in a new process that is killed after ``time_limit`` seconds; start of the process included."""
    began = time.monotonic()
    command = [sys.executable, "-m", "lbtheory.study.isolated"]
    try:
        done = subprocess.run(command, input=dump(tuple(cell)), capture_output=True, text=True, timeout=time_limit)
    except subprocess.TimeoutExpired:
        return lost(out_of_time(time_limit), time.monotonic() - began)
    if done.returncode:
        what = f"its process ended with code {done.returncode}\n{done.stderr}".rstrip()
        return lost(what, time.monotonic() - began)
    return Attempt(**json.loads(done.stdout))


def main() -> None:
    """Run the cell on standard input; what it prints goes to standard error."""
    cell = Cell(*json.load(sys.stdin))
    with contextlib.redirect_stdout(sys.stderr):
        made = attempt(cell)
    sys.stdout.write(dump({name: getattr(made, name) for name in Attempt.__slots__}))


if __name__ == "__main__":
    main()
