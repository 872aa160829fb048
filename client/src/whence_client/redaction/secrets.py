"""Kinds of secrets in text: each has probes, substrings without which it cannot occur.

Every pattern is bounded, so that any text takes linear time, and leaves its own mask alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from whence_client.redaction.patterns import Pattern
from whence_client.redaction.tokens import MASK, PATTERNS, SHAPES, WEBHOOK, WEBHOOK_PROBES

__all__ = ["KINDS", "MASK", "Kind", "Language", "is_secret_name", "mask_pairs"]


class Language(Enum):
    """The language of a text: `a = b` compares columns in SQL, may compare in code, sets a value elsewhere."""

    PROSE = "prose"
    CODE = "code"
    SQL = "sql"


@dataclass(frozen=True)
class Kind:
    """A kind of secret. A text without any of the `probes` (lower case) holds none of this kind."""

    name: str
    probes: tuple[bytes, ...]
    mask: Callable[[str, Language], str]
    names: bool = False
    """Whether names of variables and options also mark it: the values beside such names are masked completely."""


# ASCII: otherwise a long s would match an s, which no probe finds.
_FLAGS = re.IGNORECASE | re.ASCII
_WORD = (
    r"(?:passw(?:or)?d|passwort|kennwort|passphrase|pwd|secret|credentials?|token(?!s|iz)"
    r"|(?:api|access|account|private|shared|encryption|master|signing)(?:[_.-]?access)?[_.-]?key)"
)
_QUOTED = r"'(?:[^'\\]|\\.|''){1,4096}'|\"(?:[^\"\\]|\\.){1,4096}\""
_PLAIN = r"(?!(?:yes|no|true|false|none|null)\b)[^\s\"'<>,;&(){}\\]{1,256}"

_NAME = Pattern(_WORD, _FLAGS)
_NOT_SECRET = Pattern(r"(?:OLD)?PWD", _FLAGS)
_QUOTED_VALUE = Pattern(
    rf"({_WORD}[\w.-]{{0,40}}[\"']?(?:\s{{0,4}}(?:=>|:=|==?|:)\s{{0,4}}|\s{{1,4}}(?=')))({_QUOTED})", _FLAGS
)
_ESCAPED_VALUE = Pattern(rf"({_WORD}[\w.-]{{0,40}}\\\"\s{{0,4}}[:=]\s{{0,4}}\\\")([^\"\\]{{1,4096}})", _FLAGS)
_PARAMETER_VALUE = Pattern(rf"([?&;'\"][\w.-]{{0,40}}{_WORD}[\w.-]{{0,40}}=)({_PLAIN})", _FLAGS)
_PAIR = Pattern(
    rf"(\"(?:name|key)\"\s{{0,4}}:\s{{0,4}}\"[\w.-]{{0,80}}{_WORD}[\w.-]{{0,80}}\"\s{{0,4}},\s{{0,4}}\"value\"\s{{0,4}}:\s{{0,4}}\")"
    r"(?:[^\"\\]|\\.){1,4096}",
    _FLAGS,
)
_PLAIN_VALUE = Pattern(rf"({_WORD}[\w.-]{{0,40}}\s{{0,2}}=\s{{0,2}})(?!/)({_PLAIN})", _FLAGS)
_COLON_VALUE = Pattern(
    rf"((?:passw(?:or)?d|passwort|kennwort|passphrase|secret)[\w.-]{{0,40}}:\s{{0,2}})({_PLAIN})", _FLAGS
)
# `host=db password=x` of libpq (`dblink`, subscriptions): in SQL, comparisons never stand side by side.
_SET_TO = r"\s{0,2}=\s{0,2}"
_SET_VALUE = r"(?:''[^']{1,256}''|(?:(?!\$\$)[^\s\"'<>,;&(){}\\]){1,256})"
_SETTING = rf"(?<![\w.-])[\w.-]{{1,60}}{_SET_TO}{_SET_VALUE}"
_SETTINGS = Pattern(rf"{_SETTING}(?:\s{{1,8}}{_SETTING}){{1,40}}", _FLAGS)
_SECRET_SETTING = Pattern(rf"({_WORD}[\w.-]{{0,40}}{_SET_TO}){_SET_VALUE}", _FLAGS)
_OPTION_VALUE = Pattern(rf"(--[\w.-]{{0,40}}{_WORD}[\w.-]{{0,40}}\s{{1,2}})(?!-)({_PLAIN})", _FLAGS)
_TIGHT_VALUE = Pattern(rf"({_WORD}[\w.-]{{0,40}}=)(?![/=])(?!\w+[.(\[])({_PLAIN})", _FLAGS)
_IDENTIFIED = Pattern(
    rf"(identified\s{{1,4}}(?:with\s{{1,4}}\S{{1,64}}\s{{1,4}})?by\s{{1,4}}(?:password\s{{1,4}}|values\s{{1,4}})?)({_QUOTED}|[^\s'\";]{{1,256}})",
    _FLAGS,
)
_USER = Pattern(
    r"(://[^\s/?#\"'<>:@\\]{0,256}:(?!//))"  # not the colon with which the next URL begins
    r"(?:[^\s/?#\"'<>\\]{1,256}@|(?!\d{1,5}(?:[/?#,;\s)]|$))(?:(?!://)[^\s\"'<>@\\]){1,256}@"
    r"(?:[^\s/?#\"'<>\\]{0,256}@)?)"
)
_SIGNATURE = Pattern(r"([?&;](?:sig|signature|x-amz-signature)=)[^&\s\"'<>\\]{1,2048}", _FLAGS)
_BEARER = Pattern(r"(bearer\s{1,4})(?=[^\s\"'\\]{0,64}\d)[\w.~+/=-]{8,8192}", _FLAGS)
_AUTHORIZATION = Pattern(
    r"(authorization[\"'\\]{0,2}\s{0,4}[:=]\s{0,4}[\"'\\]{0,2}(?:basic|bearer|token|digest|negotiate)\s{1,4})[^\s\"'\\,]{1,8192}",
    _FLAGS,
)
_PEM = Pattern(r"(-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----).*?(-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)", re.DOTALL)
_WEB_TOKEN = Pattern(r"(?<![\w-])eyJ[\w-]{4,8192}\.eyJ[\w-]{4,65536}(?:\.[\w-]{0,8192})?")
_CURL_USER = Pattern(
    r"(\bcurl\s(?:[^\n|;]{0,400}?\s)?(?:-u|--user)[ =]?[\"']?[^\s:\"'@/]{1,128}:)(?!//)[^\s\"']{1,256}"
)
_MYSQL_PASSWORD = Pattern(
    rf"(\b(?:mysql|mariadb)(?:-?(?:dump|admin|import|check|show))?\s(?:[^\n|;]{{0,400}}?\s)?-p)({_QUOTED}|[^\s\"';|]{{1,256}})"
)


def is_secret_name(name: str) -> bool:
    """Whether a variable or option of this name holds a secret: `DB_PASSWORD`, `fs.s3a.secret.key`, `apiKey`."""
    return _matches_secret_name(name) if len(name) > _CACHED_LENGTH else _matches_secret_name_cached(name)


def _matches_secret_name(name: str) -> bool:
    return _NAME.compiled.search(name) is not None and not _NOT_SECRET.compiled.fullmatch(name)


_CACHED_LENGTH = 100
_matches_secret_name_cached = lru_cache(maxsize=8192)(_matches_secret_name)


def mask_pairs(text: str) -> str:
    """Mask, in JSON that cannot be parsed, the `value` after a `name` or `key` that marks a secret.

    >>> mask_pairs('[{"name": "DB_PASSWORD", "value": "x')
    '[{"name": "DB_PASSWORD", "value": "[redacted]'
    """
    return _PAIR.compiled.sub(rf"\1{MASK}", text)


def _mask_values(text: str, language: Language) -> str:
    text = _QUOTED_VALUE.compiled.sub(_keep_quotes, text)
    for pattern in (_ESCAPED_VALUE, _PARAMETER_VALUE):
        text = pattern.compiled.sub(rf"\1{MASK}", text)
    if language is Language.SQL:
        return _SETTINGS.compiled.sub(_mask_settings, text)
    if language is Language.CODE:
        return _TIGHT_VALUE.compiled.sub(rf"\1{MASK}", text)
    for pattern in (_OPTION_VALUE, _PLAIN_VALUE, _COLON_VALUE):
        text = pattern.compiled.sub(rf"\1{MASK}", text)
    return text


def _mask_settings(match: re.Match[str]) -> str:
    return _SECRET_SETTING.compiled.sub(rf"\1{MASK}", match[0])


def _keep_quotes(match: re.Match[str]) -> str:
    before, value = match.groups()
    quote = value[0] if value[0] in "'\"" else ""
    return f"{before}{quote}{MASK}{quote}"


def _substitute(pattern: Pattern[str], by: str) -> Callable[[str, Language], str]:
    return lambda text, _: pattern.compiled.sub(by, text)


KINDS: tuple[Kind, ...] = (
    Kind(name="PEM", probes=(b"-----begin",), mask=_substitute(_PEM, rf"\1{MASK}\2")),
    Kind(name="URI", probes=(b"@",), mask=_substitute(_USER, rf"\1{MASK}@")),
    Kind(name="authorization", probes=(b"authorization",), mask=_substitute(_AUTHORIZATION, rf"\1{MASK}")),
    Kind(name="bearer", probes=(b"bearer",), mask=_substitute(_BEARER, rf"\1{MASK}")),
    Kind(name="signature", probes=(b"sig=", b"signature="), mask=_substitute(_SIGNATURE, rf"\1{MASK}")),
    *(Kind(name=shape.name, probes=shape.probes, mask=_substitute(PATTERNS[shape.name], MASK)) for shape in SHAPES),
    Kind(name="Slack webhook", probes=WEBHOOK_PROBES, mask=_substitute(WEBHOOK, rf"\1{MASK}")),
    Kind(name="JSON web token", probes=(b".eyj",), mask=_substitute(_WEB_TOKEN, MASK)),
    Kind(name="curl", probes=(b"curl",), mask=_substitute(_CURL_USER, rf"\1{MASK}")),
    Kind(
        name="mysql",
        probes=(b"mysql", b"mariadb"),
        mask=lambda text, _: _MYSQL_PASSWORD.compiled.sub(_keep_quotes, text),
    ),
    Kind(name="user", probes=(b"identified",), mask=lambda text, _: _IDENTIFIED.compiled.sub(_keep_quotes, text)),
    Kind(
        name="value",
        probes=(b"passw", b"kennwort", b"pwd", b"passphrase", b"secret", b"token", b"credential", b"key"),
        mask=_mask_values,
        names=True,
    ),
)
