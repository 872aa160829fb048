-- ratio
-- Jobs that say now which datasets come from which, of all jobs that have events of their own.
WITH covered AS (
  SELECT DISTINCT owner_id AS id FROM edge
  WHERE valid_to IS NULL AND source_dataset_id IS NOT NULL AND target_dataset_id IS NOT NULL
)
SELECT try_divide(count(covered.id), count(*)) AS value, count(covered.id) AS numerator, count(*) AS denominator
FROM job LEFT JOIN covered ON covered.id = job.id
WHERE job.reports
