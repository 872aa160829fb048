-- ratio
-- Data quality assertions that did not hold, of all that runs checked on their inputs in the period.
SELECT
  try_divide(count_if(NOT success), count(*)) AS value, count_if(NOT success) AS numerator, count(*) AS denominator
FROM assertion
WHERE at >= :since AND at < :at
