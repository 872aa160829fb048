"""The wire: OpenLineage JSON to values and back. Pure: no input, no output, no clock."""
