"""Events, logs, stores and graphs that are measured."""
