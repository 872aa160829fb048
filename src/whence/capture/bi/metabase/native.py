"""Native questions: SQL with variables, optional parts, filters on fields, and other cards."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from whence.capture.bi.metabase.questions import Questions
from whence.capture.bi.queries import Query
from whence.errors import ArtifactError
from whence.openlineage.json.wire import Json

_TAG = re.compile(r"\{\{\s*([^}]*?)\s*\}\}")
_CARD = re.compile(r"#(\d+)(?:-.*)?", re.DOTALL)
_MARKS = re.compile(r"\[\[|\]\]")


@dataclass(slots=True)
class NativeQuestion:
    """A text of SQL with its `template-tags`. `filters` collects the fields that variables filter by."""

    text: str
    tags: Mapping[str, Json]
    questions: Questions
    filters: list[int] = field(default_factory=list)

    def query(self, columns: tuple[str, ...]) -> Query:
        """The query of the columns of its result. Raises ArtifactError for what only runs decide."""
        if not columns:
            raise ArtifactError("", "Metabase has no columns of its result: run it once")
        sql = _TAG.sub(lambda found: self._value(found[1]), _MARKS.sub("", self.text)).strip().rstrip(";")
        source = self.questions.connection.quote("source")
        outputs = {one: f"{source}.{self.questions.connection.quote(one)}" for one in columns}
        return Query(source=f"({sql}\n) {source}", outputs=outputs)

    def _value(self, tag: str) -> str:
        if found := _CARD.fullmatch(tag):
            return self.questions.card(found[1])[0]
        if tag.startswith("snippet:"):
            raise ArtifactError("", f"the {tag} is not read")
        spec = self.tags.get(tag) or {}
        if spec.get("type") != "dimension":
            return "'value'"
        key = next((one for one in spec.get("dimension") or () if isinstance(one, int)), None)
        if key is not None:
            self.filters.append(key)
        return "1 = 1"
