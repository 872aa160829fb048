-- ratio
-- Certified datasets whose upstream is complete, of all certified datasets: from them, every way upstream ends at a dataset
-- that a job writes, or that is asserted to be an origin. Aliases count once.
SELECT
  try_divide(count_if(upstream_complete), count(*)) AS value, count_if(upstream_complete) AS numerator, count(*) AS denominator
FROM dataset
WHERE certified AND id = representative_id
