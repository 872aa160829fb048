include: "base.view"

view: users {
  extends: [person]
  sql_table_name: sales.users ;;
  dimension: country { label: "Country" }
  dimension: referrer_id { sql: ${TABLE}.ref ;; }
  dimension: home { type: location sql_latitude: ${TABLE}.lat ;; sql_longitude: ${TABLE}.lon ;; }
}

view: +users {
  dimension: country { sql: UPPER(${TABLE}.country) ;; }
}
