"""Options and fixtures of all Python tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

# Tests are imported one by one (--import-mode=importlib), so shared modules need a path of their own.
sys.path.insert(0, str(Path(__file__).parent))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="models at their real sizes, and every combination")


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--full"))
