"""The examples in docstrings are true."""

import doctest

import pytest

from whence.openlineage import write
from whence.openlineage.names import naming


@pytest.mark.parametrize("module", [naming, write], ids=lambda module: module.__name__)
def test_examples(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]  # a module
    assert doctest.testmod(module).attempted > 0  # type: ignore[arg-type]  # a module
