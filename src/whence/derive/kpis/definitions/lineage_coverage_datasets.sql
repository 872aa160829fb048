-- ratio
-- Datasets that depend on another dataset, or on which one depends, of all datasets that are known. Aliases count once.
WITH linked AS (SELECT source_id AS id FROM dependency UNION SELECT target_id FROM dependency)
SELECT try_divide(count(linked.id), count(*)) AS value, count(linked.id) AS numerator, count(*) AS denominator
FROM dataset LEFT JOIN linked ON linked.id = dataset.id
WHERE dataset.id = dataset.representative_id
