select
    view_id,
    visitor_id,
    customer_id,
    url,
    viewed_at,
    channel
from {{ source('raw', 'page_views') }}
where url is not null
