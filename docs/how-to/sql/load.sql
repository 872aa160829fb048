insert into shop.daily
select *
from shop.orders;
