{{ config(materialized='table') }}
select cast(day as date) as day
from (select unnest(generate_series(date '2026-01-01', date '2026-06-30', interval 1 day)) as day)
