"""The examples in docstrings are true."""

import doctest
from types import ModuleType

import pytest

from whence.capture.dbt.artifacts import ephemeral
from whence.capture.sql.events import naming
from whence.capture.sql_log import fingerprint, prefix, times


@pytest.mark.parametrize("module", [ephemeral, naming, fingerprint, prefix, times], ids=lambda module: module.__name__)
def test_examples(module: ModuleType) -> None:
    found = doctest.testmod(module)
    assert found.failed == 0
    assert found.attempted > 0
