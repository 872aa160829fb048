-- ratio
-- Dependencies on a dataset of which nobody knows where it comes from, of all dependencies between datasets. It is known
-- if a job writes it or it depends on another dataset, or if it is asserted to be an origin.
WITH produced AS (
  SELECT DISTINCT target.representative_id AS id
  FROM edge
  JOIN dataset AS target ON target.id = edge.target_dataset_id
  LEFT JOIN dataset AS source ON source.id = edge.source_dataset_id
  WHERE edge.valid_to IS NULL
    AND (source.id IS NULL OR source.representative_id <> target.representative_id)
), judged AS (
  SELECT CASE WHEN produced.id IS NULL AND NOT dataset.is_origin THEN 1 ELSE 0 END AS is_unknown
  FROM dependency
  JOIN dataset ON dataset.id = dependency.source_id
  LEFT JOIN produced ON produced.id = dependency.source_id
)
SELECT try_divide(sum(is_unknown), count(*)) AS value, coalesce(sum(is_unknown), 0) AS numerator, count(*) AS denominator
FROM judged
