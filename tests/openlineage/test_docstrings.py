"""The examples in docstrings are true."""

import doctest
from types import ModuleType

import pytest

from whence.openlineage import write
from whence.openlineage.names import naming, producer_paths


@pytest.mark.parametrize("module", [naming, producer_paths, write], ids=lambda module: module.__name__)
def test_examples(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0
    assert doctest.testmod(module).attempted > 0
