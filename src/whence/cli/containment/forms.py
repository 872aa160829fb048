"""The forms of a plan of what to run again."""

from enum import StrEnum


class RerunForm(StrEnum):
    """What a plan is written for."""

    LAYERS = "layers"
    AIRFLOW = "airflow"
    DBT = "dbt"
    LIST = "list"
