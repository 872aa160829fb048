-- ratio
-- Datasets with lineage of columns now, upstream or downstream, of all datasets that are known. Aliases count once.
WITH ends AS (
  SELECT source_dataset_id AS id FROM edge WHERE valid_to IS NULL AND level = 'field'
  UNION SELECT target_dataset_id FROM edge WHERE valid_to IS NULL AND level = 'field'
), covered AS (
  SELECT DISTINCT dataset.representative_id AS id FROM ends JOIN dataset ON dataset.id = ends.id
)
SELECT try_divide(count(covered.id), count(*)) AS value, count(covered.id) AS numerator, count(*) AS denominator
FROM dataset LEFT JOIN covered ON covered.id = dataset.id
WHERE dataset.id = dataset.representative_id
