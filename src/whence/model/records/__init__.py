"""What Whence records in the log beside lineage, as facets of registry datasets: values, without reading or writing."""
