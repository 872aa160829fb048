select distinct date_trunc('month', day) as month from {{ ref('days') }}
