{{ config(materialized='view') }}
select
    value.customer_id,
    value.lifetime_value,
    case when value.quartile = 1 then 'call' else 'write' end as action
from {{ ref('customer_value') }} as value
where not exists (
    select 1 from {{ ref('stg_subscriptions') }} as running
    where running.customer_id = value.customer_id and running.ended_on is null
)
and value.customer_id in (select customer_id from {{ ref('stg_tickets') }} where is_urgent)
