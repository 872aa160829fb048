"""BigQuery: its list of jobs, and the columns and views of datasets, over its REST API."""
