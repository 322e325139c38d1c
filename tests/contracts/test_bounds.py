"""The compiled kernels never index outside an array: the trajectory contracts once more, with bounds checked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_kernels_stay_inside_their_arrays(tmp_path: Path) -> None:
    """Compilation with ``NUMBA_BOUNDSCHECK=1`` raises where an index is out of range."""
    contracts = Path(__file__).with_name("test_trajectories.py")
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(contracts)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=contracts.parents[2], check=False)
    assert run.returncode == 0, run.stdout[-3000:]
