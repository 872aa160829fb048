"""The content of a pack in other forms: a report for readers, and PROV-JSON."""
