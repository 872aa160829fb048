"""Texts for regular expressions: some that fit each, and some that do not."""

import re

import pytest

from whence.capture.sql.trials.generation.expressions import texts_of

EXPRESSIONS = [
    r"^[0-9]{4}$",
    r"^\d\d\d\d$",
    r"^[^@]+@[a-z.]+\.(ch|com)$",
    r"^(?:A|B)-\d{2,3}x?$",
    r"(?i)^ab*c+$",
    r"^[[:alpha:]]+_\w+$",
    r"^a.c\.d|e$",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_some_texts_fit_an_expression_and_some_nearly(expression: str) -> None:
    found = list(texts_of(expression))
    fits = [bool(re.search(expression.replace("[[:alpha:]]", "[a-zA-Z]"), one)) for one in found]
    assert fits[0]
    assert False in fits


@pytest.mark.parametrize("text", ["active", "2024-01-31", "a b", "(", "*"])
def test_another_text_has_none(text: str) -> None:
    assert list(texts_of(text)) == []
