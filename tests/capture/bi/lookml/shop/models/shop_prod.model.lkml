connection: "wh_prod"
label: "Shop – production"
include: "/views/*.view"
include: "/dashboards/*.dashboard"

explore: orders {
  sql_always_where: ${orders.is_test} = false ;;
  join: users {
    sql_on: ${orders.user_id} = ${users.id} ;;
    relationship: many_to_one
  }
  join: referrers {
    from: users
    type: inner
    sql_on: ${users.referrer_id} = ${referrers.id} ;;
    required_joins: [users]
  }
  join: daily {
    type: full_outer
    sql_on: ${orders.created_date} = ${daily.day} ;;
  }
}

explore: top_users {
  access_filter: { field: top_users.country user_attribute: country }
}

explore: order_base {
  extension: required
  from: orders
  view_name: orders
}

explore: returned {
  extends: [order_base]
  always_filter: { filters: [orders.status: "returned"] }
}
