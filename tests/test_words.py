"""Names in the code are the words of docs/glossary.md: none of the synonyms that the glossary excludes comes back."""

import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "client", "tests", "bench", "deploy")
ROW = re.compile(r"^\| (?!word |---)(.+?) \| .+ \| ?(.*?) ?\|$", re.MULTILINE)
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

SPEECH = frozenset({"said", "told", "says", "saying", "telling"})
"""A variable is named for what it holds, not for how it arrived."""
QUESTIONS = frozenset({"asked", "asking", "again"})
"""The same in the packages; tests may say what they asked a server."""
MEMBERS = frozenset({"said_at", "said_by"})
"""Members of the API's answers."""
PACKAGES = ("src/", "client/src/")


def excluded() -> dict[str, str]:
    """The excluded words, in lower case with underscores, and the glossary's word for each."""
    page = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    return {word: of for of, words in ROW.findall(page) for word in words.split(", ") if word}


@cache
def names() -> frozenset[tuple[str, str]]:
    """Every name in the code, and where it is; names of modules among them."""
    return frozenset(_names())


def _names() -> Iterator[tuple[str, str]]:
    for path in sorted(one for folder in FOLDERS for one in (ROOT / folder).rglob("*.py")):
        place = str(path.relative_to(ROOT))
        yield place, path.stem
        with path.open("rb") as file:
            yield from ((place, one.string) for one in tokenize.tokenize(file.readline) if one.type == tokenize.NAME)


@cache
def parts(name: str) -> str:
    """The parts of a name in lower case, with an underscore around each."""
    return f"_{'_'.join(part.lower() for part in PART.findall(name))}_"


def has(name: str, word: str) -> bool:
    """Whether a name contains a word (of several parts, side by side).

    >>> has("_veiled", "veil"), has("VeilOfNames", "veil"), has("adjacency", "slate")
    (False, True, False)
    """
    return f"_{word}_" in parts(name)


def test_no_name_has_an_excluded_word() -> None:
    words = excluded()
    assert len(words) > 5
    found = {(place, name, word) for place, name in names() for word in words if has(name, word)}
    assert sorted(found) == []


def spoken(place: str, name: str) -> bool:
    """Whether a name has a word of speech. Names of tests are sentences, and may have any word.

    >>> spoken("src/whence/store/status/status.py", "_said_of"), spoken("tests/test_words.py", "asked")
    (True, False)
    """
    if name in MEMBERS or name.startswith("test_"):
        return False
    words = SPEECH | QUESTIONS if place.startswith(PACKAGES) else SPEECH
    return not words.isdisjoint(parts(name).split("_"))


def test_names_say_what_they_hold() -> None:
    assert sorted({(place, name) for place, name in names() if spoken(place, name)}) == []


@pytest.mark.parametrize("name", ["veil", "Veil", "_veil", "hidden_veil", "VeilOfNames", "kept_arrays", "KeptArrays"])
def test_an_excluded_word_is_found_in_any_spelling(name: str) -> None:
    assert [word for word in excluded() if has(name, word)] != []


def test_tokens_are_read_as_python_reads_them() -> None:
    read = tokenize.tokenize(io.BytesIO(b"veil = 1  # a comment\n").readline)
    assert [one.string for one in read if one.type == tokenize.NAME] == ["veil"]
