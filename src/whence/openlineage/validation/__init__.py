"""The specification's JSON Schemas, strict validation, and the classes of reasons for which events are rejected."""
