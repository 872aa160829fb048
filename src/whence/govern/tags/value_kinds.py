"""What the values of a column are, by their form and their check digits. Values are looked at and never kept.

Names, addresses and dates of people have no such form: a column without a finding may be sensitive all the same.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address

ENOUGH = 0.6
"""The share of the values from which on a column is of a kind."""
_FEWEST = 5
"""Different values without which nothing is said."""
_EMAIL = re.compile(r"[^\s@<>,;\"]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}")
_PHONE = re.compile(r"(\+|00)[1-9][0-9 ()./-]{6,18}[0-9]")
_CARD = re.compile(r"[0-9]{4}([ -]?)[0-9]{4}\1[0-9]{4}\1[0-9]{1,7}|3[47][0-9]{2}([ -]?)[0-9]{6}\2[0-9]{5}")
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundKind:
    """A kind of sensitive values in a column. `share`: of its `values` that are not empty. `tag`: its short name."""

    column: str
    category: str
    kind: str
    tag: str
    share: float
    values: int


def is_email(text: str) -> bool:
    """Whether it is an e-mail address."""
    return _EMAIL.fullmatch(text) is not None


def is_phone(text: str) -> bool:
    """Whether it is a telephone number with its country. Without one, an order number looks the same."""
    return _PHONE.fullmatch(text) is not None and 8 <= sum(one.isdecimal() for one in text) <= 17


def is_card(text: str) -> bool:
    """Whether it is the number of a payment card, by Luhn's check digit."""
    if not _CARD.fullmatch(text):
        return False
    digits = [int(one) for one in reversed(text) if one.isdecimal()]
    doubled = (sum(divmod(2 * one, 10)) for one in digits[1::2])
    return len(set(digits)) > 1 and (sum(digits[::2]) + sum(doubled)) % 10 == 0


def is_iban(text: str) -> bool:
    """Whether it is the number of a bank account, by its check digits (ISO 7064)."""
    plain = text.replace(" ", "").upper()
    if not _IBAN.fullmatch(plain):
        return False
    return int("".join(str(int(one, 36)) for one in plain[4:] + plain[:4])) % 97 == 1


def is_address_of_host(text: str) -> bool:
    """Whether it is an IP address."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


_KINDS: Mapping[str, tuple[str, str, Callable[[str], bool]]] = {
    "e-mail addresses": ("pii", "email", is_email),
    "telephone numbers": ("pii", "phone", is_phone),
    "IP addresses": ("pii", "ip-address", is_address_of_host),
    "card numbers": ("financial", "card", is_card),
    "bank accounts": ("financial", "iban", is_iban),
}


def is_sensitive(text: str) -> bool:
    """Whether it is a value of any kind."""
    return any(test(text.strip()) for _, _, test in _KINDS.values())


def has_enough(values: Iterable[str]) -> bool:
    """Whether there are enough different values to say what they are."""
    return len(set(values)) >= _FEWEST


def find_kind(column: str, values: Iterable[str]) -> FoundKind | None:
    """The kind that most values of a column have; None if there is none, or if there are too few values."""
    some = [one for text in values if (one := text.strip())]
    if not has_enough(some):
        return None
    shares = {kind: sum(map(test, some)) / len(some) for kind, (_, _, test) in _KINDS.items()}
    kind = max(shares, key=lambda one: shares[one])
    if shares[kind] < ENOUGH:
        return None
    category, tag, _ = _KINDS[kind]
    return FoundKind(column=column, category=category, kind=kind, tag=tag, share=shares[kind], values=len(some))
