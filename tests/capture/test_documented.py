"""The example of docs/how-to/sql.md runs as it stands there, and prints what it says."""

import contextlib
import io
import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "sql.md").read_text("utf-8")
EXAMPLE = re.compile(r"```python\n(.*?)```\n\nprints\n\n```text\n(.*?)```", re.DOTALL)


def test_the_library_example() -> None:
    ((code, printed),) = EXAMPLE.findall(PAGE)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "docs/how-to/sql.md", "exec"), {})
    assert output.getvalue() == printed
