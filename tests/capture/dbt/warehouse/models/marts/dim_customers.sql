select
    customers.customer_id,
    customers.full_name,
    customers.email_hash,
    countries.name as country,
    customers.signed_up_on
from {{ ref('stg_customers') }} as customers
left join {{ ref('countries') }} as countries on customers.country_code = countries.code
