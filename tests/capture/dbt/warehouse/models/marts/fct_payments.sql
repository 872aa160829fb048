select order_id, card_amount, transfer_amount, voucher_amount,
    card_amount + transfer_amount + voucher_amount as paid
from {{ ref('int_payments_by_method') }}
