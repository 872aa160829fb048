project_name: "shop"

constant: schema { value: "sales" }
constant: orders_table { value: "@{schema}.orders" export: override_optional }
constant: dev_connection { value: "wh_dev" }
