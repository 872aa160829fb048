"""The versions of the Open Data Contract Standard (ODCS) that are read, with its own JSON Schemas."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from jsonschema import Draft201909Validator

Schema = Mapping[str, Any]

VERSIONS = ("v3.0.2", "v3.1.0", "v3.2.0")
"""As `apiVersion` names them."""
_OLDER = {"v3.0.0": "v3.0.2", "v3.0.1": "v3.0.2"}
"""Versions whose files the schema of a later patch release describes."""
_COMBINERS = ("allOf", "anyOf", "oneOf")
_CONDITIONALS = ("if", "then", "else")


@dataclass(frozen=True)
class Standard:
    """One version of the standard."""

    version: str
    schema: Schema

    @cached_property
    def validator(self) -> Draft201909Validator:
        """What checks a document."""
        return Draft201909Validator(self.schema)

    @property
    def root(self) -> tuple[Schema, ...]:
        """The schemas of a document."""
        return tuple(self._flat(self.schema, frozenset()))

    def members(self, schemas: Sequence[Schema]) -> frozenset[str] | None:
        """The keys that an object of these schemas may have; None if it may have any.

        The schemas of 3.0 close few objects. Here every object with listed keys has no others: `customProperties` is
        the place for what the standard does not list, and a misspelt key must not pass.
        """
        known = frozenset(key for one in schemas for key in one.get("properties", ()))
        is_open = any(one.get("additionalProperties") not in (None, False) for one in schemas)
        return None if is_open or not known else known | self._only_in_text(known)

    def _only_in_text(self, known: frozenset[str]) -> frozenset[str]:
        """The keys that the standard's text has, and its schema lacks."""
        return frozenset({"validValues"}) if self.version == VERSIONS[0] and "rule" in known else frozenset()

    def member(self, schemas: Sequence[Schema], key: str) -> tuple[Schema, ...]:
        """The schemas of a member of an object."""
        return self._all(one["properties"][key] for one in schemas if key in one.get("properties", ()))

    def item(self, schemas: Sequence[Schema]) -> tuple[Schema, ...]:
        """The schemas of the items of a list."""
        return self._all(one["items"] for one in schemas if isinstance(one.get("items"), dict))

    def _all(self, schemas: Iterator[Any]) -> tuple[Schema, ...]:
        return tuple(found for one in schemas for found in self._flat(one, frozenset()))

    def _flat(self, schema: Any, seen: frozenset[str]) -> Iterator[Schema]:
        """A schema, and all that it combines, whatever their conditions."""
        if not isinstance(schema, dict):
            return
        yield schema
        if (reference := schema.get("$ref")) and reference not in seen:
            yield from self._flat(self._resolved(reference), seen | {reference})
        for name in _COMBINERS:
            for one in schema.get(name, ()):
                yield from self._flat(one, seen)
        for name in _CONDITIONALS:
            yield from self._flat(schema.get(name), seen)

    def _resolved(self, reference: str) -> Any:
        found: Any = self.schema
        for step in reference.removeprefix("#/").split("/"):
            found = found[step]
        return found


@cache
def read_standard(version: str) -> Standard | None:
    """The standard of an `apiVersion`; None if this release of Whence does not read it."""
    version = _OLDER.get(version, version)
    if version not in VERSIONS:
        return None
    text = files("whence.govern.contracts").joinpath("odcs", f"odcs-{version[1:]}.schema.json").read_text("utf-8")
    return Standard(version, json.loads(text))
