"""The statements that ask Snowflake's ACCOUNT_USAGE (docs.snowflake.com, "Account Usage"). Every cell is a text.

A history is behind by up to three hours (ACCESS_HISTORY), and what ended within that time is not asked for: each query
is read once, whole. The clock is Snowflake's.
"""

QUERIES = """
SELECT q.query_id, q.query_text, q.user_name, q.database_name, q.schema_name, q.session_id, q.execution_status,
  q.error_code, q.error_message, q.rows_produced, q.rows_inserted, q.rows_updated, q.rows_deleted,
  CAST(DATE_PART(EPOCH_MICROSECOND, q.start_time) AS VARCHAR) AS start_time,
  CAST(DATE_PART(EPOCH_MICROSECOND, q.end_time) AS VARCHAR) AS end_time{access}
FROM snowflake.account_usage.query_history AS q{join}
WHERE q.end_time >= CAST('{{since}}' AS TIMESTAMP_LTZ) AND q.end_time < CAST('{{until}}' AS TIMESTAMP_LTZ)
  AND q.end_time < DATEADD(MINUTE, -{settle}, CURRENT_TIMESTAMP())
  AND q.query_text NOT LIKE '%/* {{mark}} */'
ORDER BY q.end_time, q.query_id
LIMIT {{page}} OFFSET {{offset}}
"""
ACCESS = """,
  TO_JSON(a.direct_objects_accessed) AS direct_objects_accessed, TO_JSON(a.objects_modified) AS objects_modified"""
JOIN = """
LEFT JOIN snowflake.account_usage.access_history AS a ON a.query_id = q.query_id
  AND a.query_start_time >= DATEADD(DAY, -3, CAST('{since}' AS TIMESTAMP_LTZ))"""
"""A statement runs for two days at most."""
VIEWS = """
SELECT v.table_catalog, v.table_schema, v.table_name, v.view_definition AS definition, v.table_owner AS owner,
  v.comment AS description, CAST(DATE_PART(EPOCH_MICROSECOND, v.last_altered) AS VARCHAR) AS changed{reads}
FROM snowflake.account_usage.views AS v{join}
WHERE v.deleted IS NULL AND v.last_altered >= CAST('{{since}}' AS TIMESTAMP_LTZ)
  AND v.last_altered < CAST('{{until}}' AS TIMESTAMP_LTZ)
ORDER BY v.last_altered, v.table_catalog, v.table_schema, v.table_name
"""
READS = ", d.reads"
DEPENDENCIES = """
LEFT JOIN (
  SELECT referencing_object_id,
    TO_JSON(ARRAY_AGG(ARRAY_CONSTRUCT(referenced_database, referenced_schema, referenced_object_name))) AS reads
  FROM snowflake.account_usage.object_dependencies
  WHERE referenced_object_domain LIKE '%TABLE%' OR referenced_object_domain LIKE '%VIEW%'
  GROUP BY referencing_object_id
) AS d ON d.referencing_object_id = v.table_id"""
COLUMNS = """
SELECT table_catalog, table_schema, table_name,
  TO_JSON(ARRAY_AGG(column_name) WITHIN GROUP (ORDER BY ordinal_position)) AS columns
FROM snowflake.account_usage.columns
WHERE deleted IS NULL
GROUP BY table_catalog, table_schema, table_name
"""
