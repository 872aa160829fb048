"""The URL of an SQLite file leads to that file, whatever the name of its directory."""

import string
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import make_url

from whence.sqlite_files import sqlite_url

names = st.text(st.sampled_from(f"{string.printable}é日\u202e\U0001f3ed"), min_size=1, max_size=12)


@given(names)
@example("a b/100%20/#1/?x=1&y/c:d@e+f")
@example("%")
def test_a_url_of_a_file_leads_to_it(name: str) -> None:
    path = Path("/") / name
    assert make_url(sqlite_url(path)).database == str(path)
    assert make_url(make_url(sqlite_url(path)).render_as_string()).database == str(path)
