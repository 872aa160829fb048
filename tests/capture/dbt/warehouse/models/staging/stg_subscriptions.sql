select
    id as subscription_id,
    customer_id,
    plan,
    started_on,
    ended_on,
    {{ euros('monthly_cents') }} as monthly_price
from {{ source('raw', 'subscriptions') }}
