{{ config(materialized='incremental', unique_key='order_id', incremental_strategy='delete+insert', on_schema_change='fail') }}
select
    orders.order_id,
    orders.customer_id,
    orders.status,
    orders.ordered_at,
    cast(orders.ordered_at as date) as ordered_on,
    totals.gross * orders.rate_to_eur as gross,
    totals.margin,
    coalesce(refunds.refunded, 0) as refunded,
    deliveries.days_on_the_way
from {{ ref('stg_orders') }} as orders
left join {{ ref('int_order_totals') }} as totals on orders.order_id = totals.order_id
left join {{ ref('int_refunds_by_order') }} as refunds on orders.order_id = refunds.order_id
left join {{ ref('int_deliveries') }} as deliveries on orders.order_id = deliveries.order_id
{% if is_incremental() %}
where orders.ordered_at >= (select max(ordered_at) from {{ this }})
{% endif %}
