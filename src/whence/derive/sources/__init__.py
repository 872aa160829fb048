"""Where records come from: the event log as a Spark source, segments or Kafka."""
