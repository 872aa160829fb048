select
    order_id,
    carrier,
    date_diff('day', shipped_at, delivered_at) as days_on_the_way,
    row_number() over (partition by order_id order by shipped_at) as parcel
from {{ ref('stg_shipments') }}
qualify parcel = 1
