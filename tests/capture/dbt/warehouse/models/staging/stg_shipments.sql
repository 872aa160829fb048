select * exclude (id) from {{ source('raw', 'shipments') }}
