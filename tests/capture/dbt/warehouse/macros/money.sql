{% macro euros(cents) %}({{ cents }} / 100.0)::decimal(12, 2){% endmacro %}

{% macro key_of(columns) %}md5(concat_ws('|', {{ columns | join(', ') }})){% endmacro %}

{% macro total_by(column, values, amount) %}
    {%- for value in values %}
    sum(case when {{ column }} = '{{ value }}' then {{ amount }} else 0 end) as {{ value }}_{{ amount }}{{ "," if not loop.last }}
    {%- endfor %}
{% endmacro %}
