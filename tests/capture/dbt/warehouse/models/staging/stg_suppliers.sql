select
    id as supplier_id,
    name as supplier_name,
    upper(country_code) as country_code
from {{ source('raw', 'makers') }}
