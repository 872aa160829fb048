"""Figures as people read them."""

NOT_KNOWN = "not known"
_LENGTHS = ((86_400, "d"), (3_600, "h"), (60, "min"))
_SIZES = ((1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"))


def count_text(count: int, one: str, many: str = "") -> str:
    """A number of things."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def share_text(part: int, whole: int) -> str:
    """A share with what it is made of; of nothing there is none."""
    return f"{part / whole:.1%} ({part:,} of {whole:,})" if whole else "none"


def change_text(before: tuple[int, int] | None, after: tuple[int, int] | None) -> str:
    """By how many percentage points a share changed."""
    if before is None or after is None:
        return NOT_KNOWN
    if not before[1] or not after[1]:
        return "no comparison"
    points = 100 * (after[0] / after[1] - before[0] / before[1])
    return "0.0 points" if abs(points) < 0.05 else f"{points:+.1f} points"


def length_text(seconds: float) -> str:
    """A duration in the two largest units that it has: 1 d 2 h, 12 min, 7 s."""
    if seconds < 60:
        return f"{seconds:.0f} s" if seconds >= 1 or not seconds else f"{seconds:.1g} s"
    rest = round(seconds)
    parts = []
    for size, unit in _LENGTHS:
        if rest >= size:
            parts.append(f"{rest // size} {unit}")
            rest %= size
    return " ".join(parts[:2])


def bytes_text(size: int) -> str:
    """Bytes in a unit that leaves at most three digits before the point."""
    scale, unit = next(((scale, unit) for scale, unit in _SIZES if size >= scale), (1, "B"))
    shown = size / scale
    return f"{shown:,.0f} {unit}" if scale == 1 or shown >= 100 else f"{shown:.3g} {unit}"


def day_text(time: str) -> str:
    """A time (ISO 8601) as its day, or as its minute if it is not midnight."""
    day, _, clock = time.partition("T")
    return day if clock in ("00:00:00Z", "") else f"{day} {clock[:5]}"
