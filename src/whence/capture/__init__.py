"""Other people's work as OpenLineage events: from Spark, SQL, dbt, Python and models to the collector."""
