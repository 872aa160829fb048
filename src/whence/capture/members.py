"""Members of JSON that somebody else wrote: of the expected type, or empty."""

from whence.openlineage.json.wire import Json


def text_at(found: Json, key: str) -> str:
    """The text of a member; empty if there is none."""
    value = found.get(key)
    return value if isinstance(value, str) else ""


def object_at(found: Json, *keys: str) -> Json:
    """The object on a path of members; empty if there is none."""
    for key in keys:
        value = found.get(key)
        found = value if isinstance(value, dict) else {}
    return found


def objects_at(found: Json, key: str) -> tuple[Json, ...]:
    """The objects of a list; none if there is no list."""
    value = found.get(key)
    return tuple(one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()


def numbers_at(found: Json, key: str) -> tuple[int, ...]:
    """The whole numbers of a list; none if there is no list."""
    value = found.get(key)
    return tuple(one for one in value if isinstance(one, int)) if isinstance(value, list) else ()


def texts_at(found: Json, key: str) -> dict[str, str]:
    """The members of an object that are texts, in the order of their names: that of protobuf's maps is not fixed."""
    return {name: value for name, value in sorted(object_at(found, key).items()) if isinstance(value, str)}
