-- ratio
-- Dependencies that are shown and that somebody reports to be false, of all dependencies between datasets.
WITH false_ones AS (SELECT DISTINCT source_id, target_id FROM report)
SELECT
  try_divide(count(false_ones.source_id), count(*)) AS value, count(false_ones.source_id) AS numerator, count(*) AS denominator
FROM dependency
LEFT JOIN false_ones ON false_ones.source_id = dependency.source_id AND false_ones.target_id = dependency.target_id
