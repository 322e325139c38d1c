"""Fixtures for every test."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the public data files, beside the repository; a test that needs it is skipped where it is absent."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the public data files are not beside this repository (../shared/data is absent)")
    return folder
