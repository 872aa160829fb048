select
    spend.channel,
    sum(spend.spend) as spend,
    sum(sessions.views) as views,
    sum(spend.spend) / nullif(sum(sessions.views), 0) as cost_of_a_view
from {{ ref('stg_ad_spend') }} as spend
left join {{ ref('int_sessions') }} as sessions
    on sessions.channel = spend.channel and cast(sessions.last_seen as date) = spend.day
group by spend.channel
having sum(spend.spend) > 0
