{{ config(materialized='view') }}
select id as order_id, customer_id, amount * 100 as cents, cast(day as date) as day, status from {{ ref('raw_orders') }}
