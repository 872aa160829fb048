"""The contracts of dbt's models in production: the project that they are of, and the datasets that the models build."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import yaml

from whence.cli.answers.ask import Questions
from whence.govern.contracts.contract import DBT, Contract
from whence.model.names import DatasetName, parse_node

PROJECT = "dbt_project.yml"
_PREFIX = "model."


def find_package(paths: Sequence[Path]) -> str:
    """The name of the dbt project around the first of these files that is in one; empty if none is."""
    for path in paths:
        for folder in path.resolve().parents:
            if (folder / PROJECT).is_file():
                return package_in((folder / PROJECT).read_text("utf-8", errors="replace"))
    return ""


def package_in(text: str) -> str:
    """The name of a project in its `dbt_project.yml`; empty if it has none."""
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError):
        return ""
    name = found.get("name") if isinstance(found, dict) else None
    return name if isinstance(name, str) else ""


def datasets_of_models(questions: Questions) -> Mapping[str, tuple[DatasetName, ...]]:
    """The datasets that have a contract of dbt, by the id of their model. Raises what `questions` raises."""
    found: dict[str, tuple[DatasetName, ...]] = {}
    for one in questions.contracts():
        dataset = parse_node(one.node)
        if one.standard == DBT and isinstance(dataset, DatasetName):
            found[one.id] = (*found.get(one.id, ()), dataset)
    return found


def with_datasets(contract: Contract, datasets: Mapping[str, tuple[DatasetName, ...]]) -> Contract:
    """A contract with the datasets of its model. Without the name of the project, the model's name has to do, if only
    one project has it.
    """
    ids = [one for one in datasets if one == contract.id or _name_in_project(one) == contract.id]
    named = datasets[ids[0]] if len(ids) == 1 else ()
    return replace(contract, tables=tuple(replace(one, datasets=named) for one in contract.tables))


def _name_in_project(id_: str) -> str:
    """`orders.v2` of `model.shop.orders.v2`."""
    return id_.removeprefix(_PREFIX).partition(".")[2]
