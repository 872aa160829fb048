select
    subscriptions.subscription_id,
    subscriptions.customer_id,
    months.month,
    subscriptions.monthly_price
from {{ ref('stg_subscriptions') }} as subscriptions
join {{ ref('months') }} as months
    on months.month >= date_trunc('month', subscriptions.started_on)
    and months.month <= coalesce(subscriptions.ended_on, current_date)
