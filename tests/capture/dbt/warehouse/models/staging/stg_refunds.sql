select
    order_id,
    {{ euros('amount_cents') }} as refund,
    reason
from {{ source('raw', 'refunds') }}
