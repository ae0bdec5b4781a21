"""Where the benchmark files are, for the tests marked `realdata`."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def data_dir() -> Path:
    """The folder in TRIMEM_DATA_DIR; the test is skipped where it is not set."""
    folder = os.environ.get("TRIMEM_DATA_DIR")
    if not folder:
        pytest.skip("TRIMEM_DATA_DIR is not set")
    return Path(folder)
