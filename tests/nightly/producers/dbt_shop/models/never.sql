select number from {{ ref('will_fail') }}
