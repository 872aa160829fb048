-- ratio
-- Jobs that say now which columns come from which, of all jobs that have events of their own.
WITH covered AS (SELECT DISTINCT owner_id AS id FROM edge WHERE valid_to IS NULL AND level = 'field')
SELECT try_divide(count(covered.id), count(*)) AS value, count(covered.id) AS numerator, count(*) AS denominator
FROM job LEFT JOIN covered ON covered.id = job.id
WHERE job.reports
