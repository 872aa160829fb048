"""The record of a poll: a connector in Connect's own JSON, with the topics that it has used."""

from dataclasses import dataclass, field

from whence.openlineage.json.wire import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorRecord:
    """A connector as a poll finds it. `info` and `status` are those of `/connectors?expand=…`, empty if it is deleted.

    Connect has no times: `began` is when a poll first found the connector at work, `polled` when this one did.
    `topics` are those that records went to or came from; without `is_tracked`, those that its configuration names.
    `tables` are what the offsets of a source name.
    """

    name: str
    began: str
    polled: str
    info: Json = field(default_factory=dict)
    status: Json = field(default_factory=dict)
    topics: tuple[str, ...] = ()
    is_tracked: bool = True
    tables: tuple[str, ...] = ()

    @property
    def settings(self) -> dict[str, str]:
        """The connector's configuration."""
        return dict(self.info.get("config") or {})

    @property
    def is_sink(self) -> bool:
        """Whether it reads topics."""
        return self.info.get("type") == "sink"

    @property
    def kind(self) -> str:
        """The connector's class without package and the word Connector: `JdbcSink`."""
        return self.settings.get("connector.class", "").rpartition(".")[2].removesuffix("Connector")
