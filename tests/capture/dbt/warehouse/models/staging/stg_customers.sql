select
    id as customer_id,
    md5(lower(email)) as email_hash,
    full_name,
    upper(country_code) as country_code,
    cast(created_at as date) as signed_up_on
from {{ source('raw', 'customers') }}
