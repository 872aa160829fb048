"""The facets that are read: columns, explicit lineage, symlinks, assertions, errors; and the warnings of the reader."""
