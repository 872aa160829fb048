select suppliers.supplier_id, suppliers.supplier_name, countries.region
from {{ ref('stg_suppliers') }} as suppliers, {{ ref('countries') }} as countries
where suppliers.country_code = countries.code
