{{ config(materialized='ephemeral') }}
select
    items.item_key,
    items.order_id,
    products.category,
    items.quantity * items.unit_price as gross,
    items.quantity * products.unit_cost as cost
from {{ ref('stg_order_items') }} as items
join {{ ref('stg_products') }} as products on items.product_id = products.product_id
