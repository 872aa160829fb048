view: daily {
  derived_table: {
    sql:
      WITH sums AS (
        SELECT CAST(o.created_at AS date) AS day, SUM(o.amount) AS revenue
        FROM ${orders.SQL_TABLE_NAME} AS o -- the table of orders
        WHERE {% condition orders.created_date %} o.created_at {% endcondition %}
        GROUP BY 1
      )
      SELECT day, revenue FROM sums ;;
    persist_for: "24 hours"
  }
  dimension: day { type: date }
  measure: revenue { type: max sql: ${TABLE}.revenue ;; }
}

view: top_users {
  derived_table: {
    explore_source: orders {
      column: user_id { field: orders.user_id }
      column: country { field: users.country }
      column: spent { field: orders.total }
      derived_column: rank { sql: RANK() OVER (ORDER BY spent DESC) ;; }
      filters: [orders.status: "done"]
    }
  }
  dimension: user_id {}
  dimension: country {}
  dimension: rank {}
  measure: spent { type: sum sql: ${TABLE}.spent ;; }
}
