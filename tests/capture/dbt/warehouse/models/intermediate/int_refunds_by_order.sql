select order_id, sum(refund) as refunded
from {{ ref('stg_refunds') }}
group by 1
