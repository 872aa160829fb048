"""Shapes of access tokens that services mark with a prefix, so that they are recognised in any text and in names.

>>> mask_tokens("load_glpat-AbCdEfGhIjKlMnOpQrSt")
'load_glpat-AbCdEfGhIjKlMnOpQrSt'
>>> mask_tokens("load/glpat-AbCdEfGhIjKlMnOpQrSt")
'load/[redacted]'
"""

from __future__ import annotations

from dataclasses import dataclass

from whence_client.redaction.patterns import Pattern

MASK = "[redacted]"


@dataclass(frozen=True)
class Shape:
    """A kind of token. A text without any of the `probes` (lower case) holds none. `body` is case-sensitive."""

    name: str
    probes: tuple[bytes, ...]
    body: str


SHAPES = (
    Shape("AWS access key", (b"akia",), "AKIA[0-9A-Z]{12,}"),
    Shape("GitHub token", (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"), "gh[pousr]_[A-Za-z0-9]{20,}"),
    Shape("GitHub fine-grained token", (b"github_pat_",), "github_pat_[A-Za-z0-9_]{20,}"),
    Shape("GitLab token", (b"glpat-",), "glpat-[A-Za-z0-9_-]{20,}"),
    Shape("Slack token", (b"xox",), "xox[abeprs]-[A-Za-z0-9-]{10,}"),
    Shape("Stripe key", (b"k_live_",), "[rs]k_live_[A-Za-z0-9]{16,}"),
    Shape("Google API key", (b"aiza",), "AIza[A-Za-z0-9_-]{35,}"),
    Shape("npm token", (b"npm_",), "npm_[A-Za-z0-9]{36,}"),
    Shape("Hugging Face token", (b"hf_",), "hf_[A-Za-z0-9]{30,}"),
    Shape("Databricks token", (b"dapi",), "dapi[0-9a-f]{32,}"),
    Shape("Whence key", (b"whence_",), "whence_[0-9a-f]{8}_[0-9a-f]{56,}"),
)

# A word that only ends like a token is not a token.
_BEFORE = "(?<![A-Za-z0-9_])"
_WEBHOOK_PATH = "hooks[.]slack[.]com/+(?:services|workflows|triggers)/+"
WEBHOOK = Pattern(f"({_WEBHOOK_PATH})[A-Za-z0-9_/-]{{20,}}")
"""The path of a Slack webhook is its secret."""
WEBHOOK_PROBES = (b"hooks.slack.com",)

PREFIXES = (
    *("AKIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "k_live_", "AIza", "npm_", "hf_"),
    *("dapi", "whence_", "hooks.slack.com"),
)
"""A text without any of these prefixes has no token and no webhook."""

PATTERNS = {shape.name: Pattern(_BEFORE + shape.body) for shape in SHAPES}
_ANY = Pattern(f"{_BEFORE}(?:{'|'.join(shape.body for shape in SHAPES)})")
# In JSON, a letter of an escape may precede a token.
_LIKELY = {probe: Pattern(shape.body.encode()) for shape in SHAPES for probe in shape.probes}


def mask_tokens(text: str) -> str:
    """The text without tokens of these shapes. Masking again changes nothing."""
    return _ANY.compiled.sub(MASK, WEBHOOK.compiled.sub(rf"\1{MASK}", text))


def is_token_likely(probe: bytes, event: bytes) -> bool | None:
    """Whether the JSON of an event may hold a token with this probe; None if it is not a probe of a token."""
    pattern = _LIKELY.get(probe)
    return None if pattern is None else pattern.compiled.search(event) is not None
