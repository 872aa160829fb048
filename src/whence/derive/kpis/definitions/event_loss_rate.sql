-- ratio
-- Events that must have been but never came, of all starts and ends of the runs of the period: runs without a START, and
-- batch runs without an end that were silent for a day.
WITH expected AS (
  SELECT
    CASE WHEN reported_start THEN 0 ELSE 1 END AS lost_start,
    CASE WHEN reported_end OR streaming THEN 0 WHEN seen_to < :at - INTERVAL 1 DAY THEN 1 ELSE 0 END AS lost_end,
    CASE WHEN reported_end OR (NOT streaming AND seen_to < :at - INTERVAL 1 DAY) THEN 2 ELSE 1 END AS events
  FROM run
  WHERE seen_from >= :since AND seen_from < :at
)
SELECT
  try_divide(sum(lost_start + lost_end), sum(events)) AS value,
  coalesce(sum(lost_start + lost_end), 0) AS numerator,
  coalesce(sum(events), 0) AS denominator
FROM expected
