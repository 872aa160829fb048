{{ config(materialized='ephemeral') }}
select order_id, customer_id, cents, day from {{ ref('stg_orders') }} where status = 'paid'
