"""SQL lineage as OpenLineage events, and the SQL that events carry."""
