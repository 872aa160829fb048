"""Values that become texts, which are other ones for another type: `1` and `1.0`, a day and its midnight."""

from whence.capture.sql.fingerprint.data_types.terms import MOMENTS, decimal_of, is_whole, name_of
from whence.capture.sql.provenance.formulas import Formula


def with_printed_type(value: Formula, data_type: Formula | None) -> Formula:
    """A value with its type, if values of that are written in their own way."""
    if data_type is None or value.op in ("string", "number", "null") or not _has_own_text(data_type):
        return value
    return value.store.make("typed", value, name_of(data_type) or data_type.digest.hex())


def _has_own_text(data_type: Formula) -> bool:
    """Whole numbers are written alike; what depends on one column alone has its type in both versions."""
    if data_type.op == "datatypes":
        return True
    is_moment = name_of(data_type) in MOMENTS[1:]
    is_fraction = decimal_of(data_type) is not None and not is_whole(data_type)
    return is_moment or is_fraction or name_of(data_type) in ("double", "float")
