select
    {{ key_of(['order_id', 'product_id']) }} as item_key,
    order_id,
    product_id,
    quantity,
    {{ euros('unit_price_cents') }} as unit_price
from {{ source('raw', 'order_items') }}
where quantity > 0
