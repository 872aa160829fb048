select
    order_id,
    {{ total_by('method', ['card', 'transfer', 'voucher'], 'amount') }}
from {{ ref('stg_payments') }}
group by order_id
