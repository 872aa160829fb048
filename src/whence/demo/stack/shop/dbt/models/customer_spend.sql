select
    customers.customer_id,
    customers.country,
    customers.churned,
    sum(payments.amount) as spend,
    count(payments.paid_on) as payments
from {{ source('lake', 'customers') }} as customers
inner join {{ source('lake', 'payments') }} as payments on payments.customer_id = customers.customer_id
group by customers.customer_id, customers.country, customers.churned
