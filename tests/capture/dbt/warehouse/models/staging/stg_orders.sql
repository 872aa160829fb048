select
    orders.id as order_id,
    orders.customer_id,
    orders.status,
    orders.ordered_at,
    coalesce(rates.rate_to_eur, 1) as rate_to_eur
from {{ source('raw', 'orders') }} as orders
left join {{ ref('exchange_rates') }} as rates using (currency)
