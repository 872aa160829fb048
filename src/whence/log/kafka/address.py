"""The address of a topic, and the settings with which clients of either family reach it (docs/log.md).

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
"""Settings as librdkafka names them. `ssl.key.location` is one PEM file with the client's key and certificates."""


def _patterns(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.split(",") if one.strip())


OWN: Mapping[str, Callable[[str], Any]] = {"partitions": int, "replicas": int, "timeout": float, "trusted": _patterns}
"""Settings that no client has."""

_PORT = 9092
_LOGIN = "org.apache.kafka.common.security"


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaAddress:
    """A topic, how it is made where it does not exist, and how long an answer may take."""

    servers: str
    topic: str
    partitions: int = 6
    replicas: int = -1
    """How many, where the topic has to be made; -1 leaves it to the broker."""
    timeout: float = 10
    """Seconds until a broker that does not answer counts as down."""
    trusted: tuple[str, ...] = ()
    """Patterns of namespaces in which whoever writes to the topic may assert everything."""
    security: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"kafka://{self.servers}/{self.topic}"


def parse_address(text: str) -> KafkaAddress:
    """The address in `text`, with the settings of the file that it names. Raises LogError."""
    try:
        return _parse(text)
    except ValueError as error:
        raise LogError(f"{_shown(text)}: {error}") from None
    except OSError as error:
        raise LogError(f"{_shown(text)}: its settings cannot be read: {error}") from None


def lane_name(address: KafkaAddress, partition: int) -> str:
    """The lane that a partition is: `topic/3`."""
    return f"{address.topic}/{partition}"


def client_settings(address: KafkaAddress) -> dict[str, str | int]:
    """For librdkafka."""
    given = dict(address.security)
    key = given.get("ssl.key.location")
    certificate = {"ssl.certificate.location": key} if key else {}
    milliseconds = int(address.timeout * 1000)
    bounds = {
        "socket.timeout.ms": milliseconds,
        "socket.connection.setup.timeout.ms": max(1000, milliseconds),
        "reconnect.backoff.max.ms": 1000,  # a broker that is back is found at once
    }
    return {"bootstrap.servers": address.servers, "client.id": "whence", **bounds, **given, **certificate}


def java_settings(address: KafkaAddress) -> dict[str, str]:
    """The same for Kafka's own client, which Spark has."""
    given = dict(address.security)
    settings = {"bootstrap.servers": address.servers}
    settings |= {name: given[name] for name in ("security.protocol", "sasl.mechanism") if name in given}
    if "sasl.username" in given:
        settings["sasl.jaas.config"] = _login(given)
    for ours, theirs in (("ssl.ca.location", "truststore"), ("ssl.key.location", "keystore")):
        if ours in given:
            settings |= {f"ssl.{theirs}.type": "PEM", f"ssl.{theirs}.location": given[ours]}
    return settings


def _login(given: dict[str, str]) -> str:
    is_scram = given.get("sasl.mechanism", "").startswith("SCRAM")
    module = "scram.ScramLoginModule" if is_scram else "plain.PlainLoginModule"
    username, password = (_quoted(given.get(f"sasl.{name}", "")) for name in ("username", "password"))
    return f"{_LOGIN}.{module} required username={username} password={password};"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _parse(text: str) -> KafkaAddress:
    parts = urlsplit(text)
    if parts.scheme != "kafka" or not parts.netloc or "@" in parts.netloc:
        raise ValueError("an address looks like kafka://host:9092,other:9092/topic (no user: see docs/log.md)")
    topic = unquote(parts.path.strip("/"))
    if not topic or "/" in topic or parts.fragment:
        raise ValueError("an address ends with one topic: kafka://host:9092/topic")
    given = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    if "settings" in given:
        given = _read_settings(Path(given.pop("settings"))) | given
    own = {name: kind(given.pop(name)) for name, kind in OWN.items() if name in given}
    if unknown := sorted(given.keys() - set(SECURITY)):
        raise ValueError(f"unknown settings {', '.join(unknown)}; there are {', '.join((*OWN, 'settings', *SECURITY))}")
    servers = ",".join(one if _has_port(one) else f"{one}:{_PORT}" for one in parts.netloc.split(",") if one)
    return KafkaAddress(servers=servers, topic=topic, security=tuple(given.items()), **own)


def _has_port(server: str) -> bool:
    return ":" in server.rpartition("]")[2]


def _read_settings(path: Path) -> dict[str, str]:
    lines = (line.strip() for line in path.read_text("utf-8").splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {name.strip(): value.strip() for name, _, value in pairs}


def _shown(text: str) -> str:
    """Without what may be secret."""
    return text.partition("?")[0]
