"""Settings of an API process."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from whence.api.http.rate_limits import RateSettings
from whence.log import Log
from whence.log.address import open_log
from whence.log.group_commit import CommitSettings
from whence.store.security.database import security_url
from whence.store.security.signing import signing_secret

MAX_BODY_BYTES = 32 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """A provider, and our client at it. `audience` is that of programs' tokens; the client's id if empty."""

    issuer: str
    client_id: str
    client_secret: str = field(default="", repr=False)
    public_url: str = "http://127.0.0.1:8080"
    """Our address in browsers: the provider redirects to `/login/callback` there, and nowhere else."""
    audience: str = ""
    groups_claim: str = "groups"


SLACK_RESPONSES = "https://hooks.slack.com"
"""Where Slack takes answers later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackSettings:
    """An app of Slack whose slash command asks Whence. `public_url`: where browsers find Whence; empty: not known.

    `response_base`: the scheme and host to which late answers go: Slack's own.
    """

    signing_secret: str = field(repr=False)
    public_url: str = ""
    response_base: str = SLACK_RESPONSES


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Locations of the data, and limits. Sizes are in bytes, after decompression; times in seconds."""

    data: Path
    store_url: str
    log_url: str = ""
    """The event log (`log.address.open_log`); in the data directory if empty."""
    tables_url: str = ""
    """The location of the tables and KPIs of `whence publish`; in the data directory if empty."""
    max_body_bytes: int = MAX_BODY_BYTES
    max_batch_events: int = 10_000
    kept_bytes: int = 64 << 10
    """The part of a body over the limit that is kept in quarantine."""
    max_reading_bytes: int = 256 << 20
    """The total size of large bodies that are being read, or not yet answered."""
    head_seconds: float = 30
    """The time limit for a request's line and headers."""
    body_seconds: float = 60
    """The time limit for a request's body."""
    peer_connections: int = 1_000
    """The most connections of one address; 0: no limit."""
    stale_seconds: float = 30
    """How long an event may wait for the pipeline before the API reports that it is not ready."""
    open: bool = False
    """Authenticate everybody on this machine without a key: for the demo and tests."""
    security_url: str = ""
    """The security database; beside the store if empty (`store.security.database.security_url`)."""
    policy_grace_seconds: float = 900
    """How long the last known policy applies to events while the security database does not respond."""
    provider: ProviderSettings | None = None
    """The provider for sign-in; None: API keys only."""
    slack: SlackSettings | None = None
    """The app of Slack; None: no slash command is answered."""
    receivers: Path | None = None
    """The file of those who are notified of incidents; None: nobody is."""
    public_badges: tuple[str, ...] = ()
    """Whose badges anybody may read without a key: patterns of namespaces, and `certified`; empty: nobody's."""
    evidence_seconds: float = 0
    """How often heads are signed and packs of certified datasets are stored; 0: never."""
    evidence_url: str = ""
    """Where packs are stored, a path or a URL; in the data directory if empty."""
    session_seconds: float = 12 * 3_600
    session_idle_seconds: float = 3_600
    tls_cert: Path | None = None
    tls_key: Path | None = None
    rates: RateSettings = field(default_factory=RateSettings)
    commit: CommitSettings = field(default_factory=CommitSettings)

    @property
    def log(self) -> Log:
        """The event log. Raises LogError if its address is malformed, StoreError if its secret is not available."""
        security = self.security_url or security_url(self.store_url)
        return open_log(self.log_url or str(self.data / "log"), partial(signing_secret, security))

    @property
    def tables(self) -> str:
        """The location of the published tables."""
        return self.tables_url or str(self.data / "tables")

    @property
    def evidence_keys(self) -> Path:
        """The directory with the keys that sign evidence packs."""
        return self.data / "evidence-keys"

    @property
    def signed_heads(self) -> Path:
        """The file of the signed heads of both logs."""
        return self.data / "signed-heads.jsonl"

    @property
    def stored_packs(self) -> str:
        """The location of the packs that are stored on a schedule."""
        return self.evidence_url or str(self.data / "evidence")

    @property
    def run_file(self) -> Path:
        """The file in which the supervisor, if there is one, reports its processes."""
        return self.data / "run" / "whence.json"
