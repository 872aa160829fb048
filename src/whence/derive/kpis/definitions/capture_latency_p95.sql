-- seconds
-- From eventTime to when the event was received, within which 95 % of the archived events of the period came.
WITH latency AS (
  SELECT (received_at - unix_micros(try_to_timestamp(get_json_object(decode(payload, 'UTF-8'), '$.eventTime')))) / 1e6 AS seconds
  FROM record
  WHERE kind = 1 AND received_at >= unix_micros(:since) AND received_at < unix_micros(:at)
)
SELECT percentile_approx(seconds, 0.95, 10000) AS value, CAST(NULL AS DOUBLE) AS numerator, count(seconds) AS denominator
FROM latency
