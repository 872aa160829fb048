"""An event log in a Kafka topic, for many collectors and for producers that write to the topic directly."""
