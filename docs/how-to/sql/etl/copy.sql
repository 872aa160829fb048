-- Yesterday's orders, as they are.
create table shop.orders_copy as
select   *
from shop.orders;
