-- seconds
-- The median time since any event mentioned a dataset, of those with current lineage. Aliases count as one dataset.
WITH linked AS (SELECT source_id AS id FROM dependency UNION SELECT target_id FROM dependency),
age AS (
  SELECT (unix_micros(:at) - unix_micros(max(dataset.last_seen))) / 1e6 AS seconds
  FROM dataset JOIN linked ON linked.id = dataset.representative_id
  GROUP BY dataset.representative_id
)
SELECT percentile_approx(seconds, 0.5, 10000) AS value, CAST(NULL AS DOUBLE) AS numerator, count(*) AS denominator
FROM age
