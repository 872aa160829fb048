-- nodes
-- The median over datasets of the datasets and jobs downstream of them, as counted last. Aliases count once.
SELECT
  percentile_approx(blast_radius.datasets + blast_radius.jobs, 0.5, 10000) AS value,
  CAST(NULL AS DOUBLE) AS numerator,
  count(*) AS denominator
FROM blast_radius JOIN dataset ON dataset.id = blast_radius.node_id AND dataset.id = dataset.representative_id
