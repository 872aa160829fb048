select priced.*, orders.status
from {{ ref('int_items_priced') }} as priced
join {{ ref('stg_orders') }} as orders on priced.order_id = orders.order_id
