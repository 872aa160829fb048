# The same views on another connection, refined.
connection: "wh_staging"
include: "/views/orders.view.lkml"
include: "/views/users.view.lkml"
include: "//block/missing.view"

view: +orders {
  sql_table_name: STAGE.RAW."Orders" ;;
  dimension: amount { sql: ${TABLE}.AMOUNT_CENTS / 100 ;; }
}

view: +ghost { dimension: x {} }

explore: orders {
  view_name: orders
}
explore: +orders {
  join: users { foreign_key: orders.user_id }
}
