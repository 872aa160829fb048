"""The address of a topic, and what both families of clients are told of it."""

from pathlib import Path

import pytest

from whence.errors import LogError
from whence.log.kafka.address import KafkaAddress, java_settings, librdkafka_settings, parse_address

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("kafka://h:9092/t", KafkaAddress(servers="h:9092", topic="t")),
        ("kafka://a:1,b,[::1]:2,[::2]/t", KafkaAddress(servers="a:1,b:9092,[::1]:2,[::2]:9092", topic="t")),
        ("kafka://h/t.with-a_name/", KafkaAddress(servers="h:9092", topic="t.with-a_name")),
        (
            "kafka://h/t?partitions=12&replicas=3&timeout=2.5&security.protocol=SSL",
            KafkaAddress(
                servers="h:9092",
                topic="t",
                partitions=12,
                replicas=3,
                timeout=2.5,
                security=(("security.protocol", "SSL"),),
            ),
        ),
    ],
)
def test_an_address_is_read(text: str, address: KafkaAddress) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("kafka:///t", "looks like"),
        ("kafka://user:hush@h/t", "looks like"),
        ("kafka://h", "one topic"),
        ("kafka://h/a/b", "one topic"),
        ("kafka://h/t#f", "one topic"),
        ("kafka://h/t?partitions=many", "many"),
        (
            "kafka://h/t?acks=0",
            "unknown settings acks; the known ones are partitions, replicas, timeout, trusted, settings",
        ),
        ("kafka://h/t?settings=/no/such/file", "cannot be read"),
        ("kafka://h/t?x", "bad query"),
    ],
)
def test_a_malformed_address_says_why(text: str, complaint: str) -> None:
    with pytest.raises(LogError, match=complaint):
        parse_address(text)


def test_what_may_be_secret_is_not_shown() -> None:
    address = parse_address("kafka://h/t?sasl.username=u&sasl.password=hush")
    assert "hush" not in str(address)
    with pytest.raises(LogError) as raised:
        parse_address("kafka://h/t?sasl.password=hush&no=1")
    assert "hush" not in str(raised.value)


def test_settings_come_from_a_file_and_the_address_wins(tmp_path: Path) -> None:
    path = tmp_path / "kafka.properties"
    path.write_text("# a comment\n\nsasl.username = whence\nsasl.password=a=b c\npartitions=7\ntimeout=5\n")
    address = parse_address(f"kafka://h/t?settings={path}&timeout=3")
    assert (address.partitions, address.timeout) == (7, 3.0)
    assert dict(address.security) == {"sasl.username": "whence", "sasl.password": "a=b c"}


def test_both_clients_are_told_the_same() -> None:
    address = KafkaAddress(
        servers="h:9092",
        topic="t",
        security=(
            ("security.protocol", "SASL_SSL"),
            ("sasl.mechanism", "PLAIN"),
            ("sasl.username", "whence"),
            ("sasl.password", 'a"b\\c'),
            ("ssl.ca.location", "/ca.pem"),
            ("ssl.key.location", "/client.pem"),
        ),
    )
    theirs = librdkafka_settings(address)
    assert theirs.items() >= dict(address.security).items()
    assert theirs["ssl.certificate.location"] == "/client.pem"
    assert theirs["bootstrap.servers"] == "h:9092"
    assert java_settings(address) == {
        "bootstrap.servers": "h:9092",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{PLAIN} required username="whence" password="a\\"b\\\\c";',
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": "/ca.pem",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": "/client.pem",
    }


def test_scram_has_a_login_of_its_own() -> None:
    security = (("sasl.mechanism", "SCRAM-SHA-512"), ("sasl.username", "u"), ("sasl.password", "p"))
    settings = java_settings(KafkaAddress(servers="h:9092", topic="t", security=security))
    assert settings["sasl.jaas.config"] == f'{SCRAM} required username="u" password="p";'


def test_a_topic_is_trusted_for_the_patterns_that_are_named() -> None:
    assert parse_address("kafka://h/t").trusted == ()
    assert parse_address("kafka://h/t?trusted=s3://a*, warehouse,").trusted == ("s3://a*", "warehouse")
