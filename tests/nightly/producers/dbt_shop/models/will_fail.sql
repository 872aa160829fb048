{{ config(materialized='table', tags=['nightly']) }}
select cast('x' || country as integer) as number from {{ ref('raw_customers') }}
