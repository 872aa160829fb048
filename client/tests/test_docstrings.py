"""The examples in the docstrings of the client are true."""

import doctest
import importlib
import pkgutil

import pytest

import whence_client

MODULES = [found.name for found in pkgutil.walk_packages(whence_client.__path__, "whence_client.")]
LOADED_BY = {"whence_client.airflow.plugin": "airflow", "whence_client.quality.action": "great_expectations"}
"""Modules that only another system loads, which is not installed here."""


@pytest.mark.parametrize("name", [name for name in MODULES if "__main__" not in name and name not in LOADED_BY])
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("name", LOADED_BY)
def test_a_module_that_a_system_loads_needs_nothing_but_that_system(name: str) -> None:
    with pytest.raises(ModuleNotFoundError) as raised:
        importlib.import_module(name)
    assert raised.value.name == LOADED_BY[name]
