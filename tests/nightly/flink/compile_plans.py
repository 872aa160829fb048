"""`python -m nightly.flink.compile_plans FOLDER`: each statement, compiled by a real Flink in an environment of it."""

import sys
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

from nightly.flink.statements import CREATE, STATEMENTS


def main() -> None:
    """Compile."""
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for statement in CREATE.split(";\nCREATE"):
        tables.execute_sql(statement if statement.strip().startswith("CREATE") else f"CREATE{statement}")
    for name, statement in STATEMENTS.items():
        path = Path(sys.argv[1]) / f"{name}.json"
        tables.execute_sql(f"COMPILE PLAN '{path.as_uri()}' FOR {statement.removeprefix('EXECUTE ')}")


if __name__ == "__main__":
    main()
