-- ratio
-- Bodies that were refused and put into quarantine, of all that was received and archived in the period.
SELECT
  try_divide(count_if(kind = 3), count(*)) AS value, count_if(kind = 3) AS numerator, count(*) AS denominator
FROM record
WHERE received_at >= unix_micros(:since) AND received_at < unix_micros(:at)
