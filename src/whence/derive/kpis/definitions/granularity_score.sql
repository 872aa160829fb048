-- score
-- How finely it is known where outputs come from, on average over all current outputs of jobs: 1 by columns, 0.5 by datasets
-- as the producer says, 0.25 inferred from inputs and outputs, 0 not at all. Outputs asserted to be origins do not count.
WITH output AS (
  SELECT edge.owner_id, target.representative_id,
    max(CASE WHEN edge.source_dataset_id IS NULL THEN 0 WHEN edge.level = 'field' THEN 1
      WHEN edge.origin = 'inferred' THEN 0.25 ELSE 0.5 END) AS score
  FROM edge
  JOIN job ON job.id = edge.owner_id
  JOIN dataset AS target ON target.id = edge.target_dataset_id
  WHERE edge.valid_to IS NULL AND NOT target.is_origin
  GROUP BY edge.owner_id, target.representative_id
)
SELECT avg(score) AS value, sum(score) AS numerator, count(*) AS denominator
FROM output
