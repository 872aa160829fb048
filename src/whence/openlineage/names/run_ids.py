"""Run ids: UUIDs, in lower case."""

import re

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def parse_uuid(value: object) -> str | None:
    """The UUID in lower case, or None if the value is not a UUID."""
    return value.lower() if type(value) is str and _UUID.fullmatch(value) else None
