"""Topic addresses, and the settings with which either family of clients connects (docs/reference/event-log.md).

`kafka://HOST:PORT,HOST:PORT/TOPIC?NAME=VALUE&…`
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from whence.errors import LogError

SECURITY = (
    "security.protocol",
    "sasl.mechanism",
    "sasl.username",
    "sasl.password",
    "ssl.ca.location",
    "ssl.key.location",
)
"""Security settings in librdkafka's names. `ssl.key.location`: one PEM file with the client's key and certificates."""


def _parse_patterns(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.split(",") if one.strip())


OWN: Mapping[str, Callable[[str], Any]] = {
    "partitions": int,
    "replicas": int,
    "timeout": float,
    "trusted": _parse_patterns,
}
"""Whence's own settings, which no client has."""

_PORT = 9092
_LOGIN = "org.apache.kafka.common.security"


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaAddress:
    """A topic, how it is created if it does not exist, and how long a broker may take to answer."""

    servers: str
    topic: str
    partitions: int = 6
    replicas: int = -1
    """The replication factor of a topic that Whence creates; -1 leaves it to the broker."""
    timeout: float = 10
    """Seconds after which a broker that does not answer counts as down."""
    trusted: tuple[str, ...] = ()
    """Patterns of the namespaces in which every writer to the topic may assert everything."""
    security: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"kafka://{self.servers}/{self.topic}"


def parse_address(text: str) -> KafkaAddress:
    """Parse an address, and read the settings file that it names. Raises LogError."""
    try:
        return _parse_text(text)
    except ValueError as error:
        raise LogError(f"{_redact(text)}: {error}") from None
    except OSError as error:
        raise LogError(f"{_redact(text)}: its settings cannot be read: {error}") from None


def lane_name(address: KafkaAddress, partition: int) -> str:
    """The name of a partition's lane: `topic/3`."""
    return f"{address.topic}/{partition}"


def librdkafka_settings(address: KafkaAddress) -> dict[str, str | int]:
    """The client settings for librdkafka."""
    given = dict(address.security)
    key = given.get("ssl.key.location")
    certificate = {"ssl.certificate.location": key} if key else {}
    milliseconds = int(address.timeout * 1000)
    bounds = {
        "socket.timeout.ms": milliseconds,
        "socket.connection.setup.timeout.ms": max(1000, milliseconds),
        "reconnect.backoff.max.ms": 1000,  # reconnect soon after a broker returns
    }
    return {"bootstrap.servers": address.servers, "client.id": "whence", **bounds, **given, **certificate}


def java_settings(address: KafkaAddress) -> dict[str, str]:
    """The client settings for Kafka's Java client, which Spark uses."""
    given = dict(address.security)
    settings = {"bootstrap.servers": address.servers}
    settings |= {name: given[name] for name in ("security.protocol", "sasl.mechanism") if name in given}
    if "sasl.username" in given:
        settings["sasl.jaas.config"] = _jaas_login(given)
    for ours, theirs in (("ssl.ca.location", "truststore"), ("ssl.key.location", "keystore")):
        if ours in given:
            settings |= {f"ssl.{theirs}.type": "PEM", f"ssl.{theirs}.location": given[ours]}
    return settings


def _jaas_login(given: dict[str, str]) -> str:
    is_scram = given.get("sasl.mechanism", "").startswith("SCRAM")
    module = "scram.ScramLoginModule" if is_scram else "plain.PlainLoginModule"
    username, password = (_quote(given.get(f"sasl.{name}", "")) for name in ("username", "password"))
    return f"{_LOGIN}.{module} required username={username} password={password};"


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _parse_text(text: str) -> KafkaAddress:
    parts = urlsplit(text)
    if parts.scheme != "kafka" or not parts.netloc or "@" in parts.netloc:
        raise ValueError(
            "an address looks like kafka://host:9092,other:9092/topic (no user: see docs/reference/event-log.md)"
        )
    topic = unquote(parts.path.strip("/"))
    if not topic or "/" in topic or parts.fragment:
        raise ValueError("an address ends with one topic: kafka://host:9092/topic")
    given = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    if "settings" in given:
        given = _read_settings(Path(given.pop("settings"))) | given
    own = {name: kind(given.pop(name)) for name, kind in OWN.items() if name in given}
    if unknown := sorted(given.keys() - set(SECURITY)):
        raise ValueError(
            f"unknown settings {', '.join(unknown)}; the known ones are {', '.join((*OWN, 'settings', *SECURITY))}"
        )
    servers = ",".join(one if _has_port(one) else f"{one}:{_PORT}" for one in parts.netloc.split(",") if one)
    return KafkaAddress(servers=servers, topic=topic, security=tuple(given.items()), **own)


def _has_port(server: str) -> bool:
    return ":" in server.rpartition("]")[2]


def _read_settings(path: Path) -> dict[str, str]:
    lines = (line.strip() for line in path.read_text("utf-8").splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {name.strip(): value.strip() for name, _, value in pairs}


def _redact(text: str) -> str:
    """The address without its query, which may hold secrets."""
    return text.partition("?")[0]
