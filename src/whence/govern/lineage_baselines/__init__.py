"""The lineage upstream of a dataset that a person accepted, and how the lineage differs from it since."""
