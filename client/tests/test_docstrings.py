"""The examples in the docstrings of the client are true."""

import doctest
import importlib
import pkgutil

import pytest

import whence_client

MODULES = [found.name for found in pkgutil.walk_packages(whence_client.__path__, "whence_client.")]


@pytest.mark.parametrize("name", [name for name in MODULES if "__main__" not in name])
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
