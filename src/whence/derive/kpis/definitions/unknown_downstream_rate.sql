-- ratio
-- Datasets that something writes and that nothing is known to read, of all datasets that something writes. Dashboards,
-- models and reports, and datasets that are asserted to be terminal, need no readers and do not count.
WITH arrow AS (
  SELECT source.representative_id AS source_id, target.representative_id AS target_id
  FROM edge
  LEFT JOIN dataset AS source ON source.id = edge.source_dataset_id
  LEFT JOIN dataset AS target ON target.id = edge.target_dataset_id
  WHERE edge.valid_to IS NULL
), produced AS (
  SELECT DISTINCT target_id AS id FROM arrow WHERE target_id IS NOT NULL AND NOT source_id <=> target_id
), consumed AS (
  SELECT DISTINCT source_id AS id FROM arrow WHERE source_id IS NOT NULL AND NOT source_id <=> target_id
), judged AS (
  SELECT CASE WHEN consumed.id IS NULL THEN 1 ELSE 0 END AS is_unknown
  FROM produced
  JOIN dataset ON dataset.id = produced.id
  LEFT JOIN consumed ON consumed.id = produced.id
  WHERE NOT dataset.is_terminal AND coalesce(dataset.type, '') NOT IN ('DASHBOARD', 'MODEL', 'REPORT')
)
SELECT try_divide(sum(is_unknown), count(*)) AS value, coalesce(sum(is_unknown), 0) AS numerator, count(*) AS denominator
FROM judged
