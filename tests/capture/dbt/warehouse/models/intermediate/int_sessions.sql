{{ config(materialized='incremental', unique_key='session_id') }}
with views as (
    select
        *,
        lag(viewed_at) over (partition by visitor_id order by viewed_at) as before
    from {{ ref('stg_page_views') }}
    {% if is_incremental() %}
    where viewed_at > (select max(last_seen) from {{ this }})
    {% endif %}
)

select
    visitor_id || ':' || min(viewed_at) as session_id,
    visitor_id,
    max(customer_id) as customer_id,
    min(channel) as channel,
    max(viewed_at) as last_seen,
    count(url) as views
from views
where before is null or viewed_at - before < interval 30 minute
group by visitor_id
