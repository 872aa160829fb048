"""Jinja in the SQL of datasets and expressions: what is constant is rendered, the rest is announced."""

from functools import cache

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from whence.errors import ArtifactError

_LARGEST = 1_000_000


def render(text: str) -> str:
    """The SQL as each query has it. Raises ArtifactError if a user, a filter or the time decides it.

    >>> render("select {% if true %}a{% endif %} from t")
    'select a from t'
    """
    if "{{" not in text and "{%" not in text and "{#" not in text:
        return text
    try:
        rendered = _environment().from_string(text).render()
    except (TemplateError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise ArtifactError("", f"Jinja decides it when the query runs, not captured: {error}") from None
    if len(rendered) > _LARGEST:
        raise ArtifactError("", "Jinja makes more than 1 MB of it")
    return rendered


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    made = ImmutableSandboxedEnvironment(undefined=StrictUndefined)
    made.globals.clear()
    return made
