select
    day,
    channel,
    {{ euros('spend_cents') }} as spend
from {{ source('raw', 'ad_spend') }}
