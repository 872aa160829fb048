view: orders {
  sql_table_name: @{orders_table} ;;

  dimension: id { primary_key: yes type: number sql: ${TABLE}.id ;; }
  dimension: user_id { type: number }
  dimension: status { type: string sql: ${TABLE}.status ;; }
  dimension: amount { hidden: yes type: number sql: ${TABLE}.amount ;; }
  dimension: is_test { type: yesno sql: ${TABLE}."Is Test" ;; }
  dimension: is_big { type: yesno sql: ${amount} > 100 ;; }
  dimension: size {
    case: {
      when: { sql: ${amount} > 1000 ;; label: "large" }
      when: { sql: ${TABLE}.items > 10 ;; label: "many" }
      else: "small"
    }
  }
  dimension: channel { sql: {% assign column = "channel" %}${TABLE}.{{ column | append: "_v2" }} ;; }
  dimension: chosen { sql: {% parameter granularity %} ;; }
  dimension: private { sql: {% if _user_attributes['pii'] == 'yes' %}${TABLE}.email{% else %}'x'{% endif %} ;; }
  parameter: granularity { type: unquoted }

  dimension_group: created { type: time timeframes: [raw, date, month] sql: ${TABLE}.created_at ;; }
  dimension_group: delivery {
    type: duration
    intervals: [day, week]
    sql_start: ${created_raw} ;;
    sql_end: ${TABLE}.delivered_at ;;
  }

  measure: count { type: count }
  measure: total { type: sum sql: ${amount} ;; value_format_name: eur }
  measure: total_done { type: sum sql: ${amount} ;; filters: [status: "done"] }
  measure: buyers { type: count_distinct sql: ${user_id} ;; filters: { field: channel value: "shop" } }
  measure: average_order { type: number sql: ${total} / NULLIF(${buyers}, 0) ;; }
  measure: share { type: percent_of_total sql: ${total} ;; }
  measure: circular { type: number sql: ${circular} ;; }
}
