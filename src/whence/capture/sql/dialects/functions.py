"""Lists of function names, in lower case: functions without a class in the parser, and functions that change the kind
of an edge.

Masking functions as openlineage-spark lists them (`ExpressionTraverser.java`), and their equivalents in other dialects.
"""


def words(text: str) -> frozenset[str]:
    """Split a text into a set of words."""
    return frozenset(text.split())


MASKING = words(
    "crc32 md5 md5_digest sha1_digest sha2_digest city_hash64 md5_hex md5_binary md5_number md5_number_lower64 "
    "md5_number_upper64 murmur_hash murmurhash3 sha sha1 sha1_hex sha1_binary sha2 sha2_hex sha2_binary sha224 "
    "sha256 sha384 sha512 xxhash64 xxh64 xxhash32 hash mask mask_first_n mask_hash mask_last_n mask_show_first_n "
    "mask_show_last_n farm_fingerprint fnv_hash hashbytes checksum binary_checksum ora_hash standard_hash hashrow "
    "hashbucket cityhash64 siphash64 siphash128 halfmd5 inthash32 inthash64 murmurhash2_32 murmurhash2_64 "
    "murmurhash3_32 murmurhash3_64 murmurhash3_128 hmac hmac_md5 hmac_sha1 hmac_sha256 hmac_sha512 digest crypt "
    "strtol_hash spooky_hash_v2_32 spooky_hash_v2_64 func_sha1 hashtext blake3 sha3 keccak256"
)
COUNTING = words(
    "count count_if countif count_big approx_count_distinct approx_distinct uniq uniqexact uniqcombined uniqhll12 "
    "uniqcombined64 uniqthetasketch ndv hll hll_count regr_count"
)
AGGREGATES = words(
    "sum avg min max any any_value group_array grouparray groupuniqarray listagg string_agg group_concat "
    "wm_concat xmlagg json_agg jsonb_agg json_object_agg jsonb_object_agg json_group_array json_group_object "
    "json_arrayagg json_objectagg array_agg collect_list collect_set object_agg map_agg multimap_agg histogram "
    "checksum_agg bool_and bool_or every bit_and bit_or bit_xor bitand_agg bitor_agg bitxor_agg stddev stdev "
    "stdevp stddev_pop stddev_samp variance var varp var_pop var_samp median mode percentile percentile_approx "
    "percentile_disc percentile_cont approx_percentile approx_quantiles corr covar_pop covar_samp max_by min_by "
    "argmax argmin geometric_mean product skewness kurtosis entropy mad list first last arbitrary anylast "
    "anyheavy topk quantile quantiles quantileexact quantiletdigest arg_max arg_min summap deltasum "
    "sumwithoverflow total fsum favg kahan_sum first_agg last_agg stats_mode sum_if sumif avgif maxif minif "
    "reduce_agg approx_top_count approx_top_k approx_top_sum numeric_histogram array_concat_agg array_union_agg "
    "array_unique_agg booland_agg boolor_agg boolxor_agg st_collect st_union_agg xml_agg "
    "largesttrianglethreebuckets lttb exponentialmovingaverage exponentialtimedecayedavg exponentialtimedecayedsum "
    "exponentialtimedecayedmax grouparraysample grouparraymovingavg grouparraymovingsum grouparrayinsertat "
    "grouparraysorted grouparraylast sequencematch sequencecount sequencenextnode windowfunnel retention "
    "summapfiltered kolmogorovsmirnovtest mannwhitneyutest studentttest welchttest meanztest studentttestonesample "
    "simplelinearregression categoricalinformationvalue skewpop skewsamp kurtpop kurtsamp boundingratio rankcorr "
    "sparkbar intervallengthsum deltasumtimestamp maxmap minmap sumcount sumkahan avgweighted topkweighted "
    "contingency cramersv theilsu maxintersections maxintersectionsposition flamegraph grouparrayintersect "
    "groupbitand groupbitor groupbitxor groupconcat uniquptoif"
)
CONDITION_VALUE_PAIRS = {"multiif": 2, "multi_if": 2}
"""Functions whose arguments are condition, value, condition, value, …, value."""
LEADING_CONDITION = frozenset(["if", "iif", "iff", "nvl2", "choose"])
"""Functions whose first argument only selects between the others."""
DATE_UNITS = words(
    "year yyyy yy quarter qq q month mm m dayofyear dy y day dd d week wk ww weekday dw hour hh minute mi n "
    "second ss s millisecond ms microsecond mcs us nanosecond ns dow doy epoch isoyear isoweek isodow century "
    "decade millennium timezone_hour timezone_minute timezone years quarters months weeks days hours minutes "
    "seconds milliseconds microseconds sql_tsi_second sql_tsi_minute sql_tsi_hour sql_tsi_day sql_tsi_week "
    "sql_tsi_month sql_tsi_quarter sql_tsi_year day_hour day_minute day_second hour_minute hour_second "
    "minute_second year_month"
)
"""Names of date parts that appear where a column can."""
DATE_FUNCTIONS = words(
    "date_part datepart date_trunc datetrunc datename dateadd date_add datesub date_sub datediff date_diff "
    "datediff_big timestampadd timestamp_add timestampdiff timestamp_diff timestamp_sub timestamp_trunc datetime_add "
    "datetime_sub datetime_diff datetime_trunc time_add time_sub time_diff time_trunc timeadd timediff date_bucket "
    "time_slice last_day extract get_format"
)
"""Functions whose first or last argument is a date part."""
