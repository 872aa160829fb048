select
    tickets.ticket_id,
    customers.full_name as customer,
    tickets.is_urgent,
    coalesce(tickets.closed_at, now()) - tickets.opened_at as age
from {{ ref('stg_tickets') }} as tickets
join {{ ref('dim_customers') }} as customers on tickets.customer_id = customers.customer_id
