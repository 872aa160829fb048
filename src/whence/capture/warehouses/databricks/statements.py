"""The statements that ask Databricks' system tables (docs.databricks.com, "System tables reference").

`statement_id` is in the tables of lineage where a SQL warehouse or serverless compute ran the query. Without one it was
a notebook, a job or a pipeline on other compute: then the lineage is all there is of it.
"""

_LINEAGE = """
  SELECT {keys}, to_json(collect_set(named_struct(
    'source', source_table_full_name, 'source_path', source_path, 'source_column', source_column_name,
    'target', target_table_full_name, 'target_path', target_path, 'target_column', target_column_name))) AS flows
  FROM (
    SELECT entity_type, entity_id, entity_run_id, created_by, event_time, statement_id,
      source_table_full_name, source_path, target_table_full_name, target_path,
      CAST(NULL AS STRING) AS source_column_name, CAST(NULL AS STRING) AS target_column_name
    FROM system.access.table_lineage
    UNION ALL
    SELECT entity_type, entity_id, entity_run_id, created_by, event_time, statement_id,
      source_table_full_name, source_path, target_table_full_name, target_path, source_column_name, target_column_name
    FROM system.access.column_lineage
  ) AS lineage
  WHERE {condition}
  GROUP BY {keys}"""
_STATEMENTS = _LINEAGE.format(
    keys="statement_id",
    condition="statement_id IS NOT NULL AND event_time >= CAST('{since}' AS TIMESTAMP) - INTERVAL 1 DAY",
)
JOIN = f"\nLEFT JOIN ({_STATEMENTS}\n) AS l ON l.statement_id = q.statement_id"
QUERIES = """
SELECT q.statement_id, q.session_id, q.execution_status, q.statement_text, q.error_message, q.executed_by,
  q.client_application, CAST(q.produced_rows AS STRING) AS produced_rows,
  CAST(unix_micros(q.start_time) AS STRING) AS start_time, CAST(unix_micros(q.end_time) AS STRING) AS end_time{flows}
FROM system.query.history AS q{join}
WHERE q.end_time >= CAST('{{since}}' AS TIMESTAMP) AND q.end_time < CAST('{{until}}' AS TIMESTAMP)
  AND q.end_time < current_timestamp() - INTERVAL {settle} MINUTES
  AND (q.statement_text IS NULL OR q.statement_text NOT LIKE '%/* {{mark}} */')
ORDER BY q.end_time, q.statement_id
LIMIT {{page}} OFFSET {{offset}}
"""
FLOWS = ", l.flows"
"""With `JOIN`: the flows of each statement."""
_ENTITY = "entity_type, entity_id, entity_run_id, created_by, event_time"
_SINCE = "event_time >= CAST('{{since}}' AS TIMESTAMP) AND event_time < CAST('{{until}}' AS TIMESTAMP)"
OTHERS = f"""
SELECT entity_type, entity_id, entity_run_id, created_by, flows,
  CAST(unix_micros(event_time) AS STRING) AS end_time,
  concat_ws('/', entity_type, entity_id, entity_run_id, created_by, CAST(unix_micros(event_time) AS STRING)) AS key
FROM ({_LINEAGE.format(keys=_ENTITY, condition=f"statement_id IS NULL AND {_SINCE}")}
) AS l
WHERE event_time < current_timestamp() - INTERVAL {{settle}} MINUTES
ORDER BY event_time, key
LIMIT {{{{page}}}} OFFSET {{{{offset}}}}
"""
VIEWS = """
SELECT v.table_catalog, v.table_schema, v.table_name, v.view_definition AS definition, t.table_owner AS owner,
  t.comment AS description, CAST(unix_micros(t.last_altered) AS STRING) AS changed
FROM system.information_schema.views AS v
JOIN system.information_schema.tables AS t
  ON t.table_catalog = v.table_catalog AND t.table_schema = v.table_schema AND t.table_name = v.table_name
WHERE t.last_altered >= CAST('{since}' AS TIMESTAMP) AND t.last_altered < CAST('{until}' AS TIMESTAMP)
ORDER BY t.last_altered, v.table_catalog, v.table_schema, v.table_name
"""
COLUMNS = """
SELECT table_catalog, table_schema, table_name,
  to_json(transform(array_sort(collect_list(struct(ordinal_position, column_name))), one -> one.column_name)) AS columns
FROM system.information_schema.columns
WHERE table_schema <> 'information_schema'
GROUP BY table_catalog, table_schema, table_name
"""
