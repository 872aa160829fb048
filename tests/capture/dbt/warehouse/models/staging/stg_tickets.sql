select
    id as ticket_id,
    customer_id,
    priority in ('high', 'urgent') as is_urgent,
    opened_at,
    closed_at
from {{ source('raw', 'tickets') }}
