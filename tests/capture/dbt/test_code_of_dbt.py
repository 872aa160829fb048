"""The warehouse that a real dbt built, as code."""

from dataclasses import replace
from pathlib import Path

import pytest

from whence.capture.dbt.artifacts.connection import Warehouse
from whence.capture.dbt.artifacts.ephemeral import PREFIX
from whence.capture.dbt.artifacts.files import read_project
from whence.capture.dbt.code import project_code
from whence.capture.sql.fingerprint.projects.evaluation import Readings
from whence.capture.sql.fingerprint.projects.versions import compare_projects

WAREHOUSE = Warehouse("duckdb://shop.db", "duckdb")


def test_a_model_of_a_real_project_is_equal_to_itself_and_an_edit_of_it_is_found(
    target: Path, pytestconfig: pytest.Config
) -> None:
    """Every fifth model; all with `--long`."""
    built = read_project(target)
    base, readings = project_code(built, WAREHOUSE), Readings()
    assert compare_projects(base, project_code(built, WAREHOUSE)) == ()
    models = [one for one in built.nodes.values() if one.kind == "model" and one.language == "sql" and one.sql]
    models = [one for one in models if PREFIX not in one.sql]  # their text has that of other models in it
    assert len(models) > 5
    for model in models if pytestconfig.getoption("long") else models[::5]:
        wrapped, cut = (
            project_code(replace(built, nodes={**built.nodes, model.unique_id: replace(model, sql=sql)}), WAREHOUSE)
            for sql in (
                f"-- wrapped\nselect * from (\n{model.sql}\n) as w",
                f"select * from (\n{model.sql}\n) as w limit 1",
            )
        )
        assert [one for one in compare_projects(base, wrapped, readings) if not one.kind.is_harmless] == [], (
            model.unique_id
        )
        found = [one for one in compare_projects(base, cut, readings) if not one.kind.is_harmless and not one.inherited]
        assert [one.file for one in found] == [model.path]
