"""What functions show of their arguments. Functions that are in no list are not known: everything, assumed."""

from sqlglot import exp

from whence.capture.sql.dialects.functions import COUNTING, words

HASHES = (exp.MD5, exp.MD5Digest, exp.SHA, exp.SHA1Digest, exp.SHA2, exp.SHA2Digest, exp.FarmFingerprint)
"""Something else for each value. Other names are in `dialects.functions.MASKING` and `CIPHERS`."""

CIPHERS = words(
    "aes_encrypt encrypt encrypt_raw encryptbypassphrase encryptbykey pgp_sym_encrypt pgp_pub_encrypt "
    "deterministic_encrypt aead_encrypt des_encrypt kms_encrypt tokenize tokenise ff3_encrypt fpe_encrypt"
)

PARTS = (
    *(exp.Substring, exp.Left, exp.Right, exp.SplitPart, exp.RegexpExtract, exp.Length, exp.StrPosition),
    *(exp.DateTrunc, exp.TimestampTrunc, exp.DatetimeTrunc, exp.TimeTrunc, exp.Extract, exp.LastDay),
    *(exp.Year, exp.Quarter, exp.Month, exp.Week, exp.WeekOfYear, exp.Day),
    *(exp.And, exp.Or, exp.Xor, exp.DayOfWeek, exp.DayOfMonth, exp.DayOfYear, exp.Monthname, exp.Dayname),
    *(exp.Round, exp.Floor, exp.Ceil, exp.Mod, exp.WidthBucket, exp.Sign, exp.ArraySize),
)
"""A part of each value, as a rule: `round(amount, 2)` of amounts in cents is all of it."""
PART_NAMES = words(
    "trunc truncate bucket char_length character_length octet_length bit_length instr locate position hour minute "
    "second date_part datepart datename substring_index weekday dayname monthname ascii soundex metaphone"
)
DATE_PARTS = words("date_part datepart extract")
"""Of these the first argument may be a whole unit."""
WHOLE_UNITS = words("epoch epoch_second epoch_millisecond epoch_microsecond epoch_nanosecond julian")
"""The parts of a time that are all of it."""

SAME = (
    *(exp.Paren, exp.Alias, exp.Cast, exp.TryCast, exp.Collate, exp.AtTimeZone, exp.Distinct, exp.Filter, exp.Window),
    *(exp.Lower, exp.Upper, exp.Trim, exp.Initcap, exp.Reverse, exp.Pad, exp.Replace, exp.Translate, exp.Repeat),
    *(exp.Concat, exp.ConcatWs, exp.DPipe, exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least, exp.Hex, exp.Unhex),
    *(exp.Case, exp.If, exp.Max, exp.Min, exp.AnyValue, exp.First, exp.Last, exp.FirstValue, exp.LastValue),
    *(exp.NthValue, exp.Lag, exp.Lead, exp.Mode, exp.ArgMax, exp.ArgMin, exp.ArrayAgg, exp.GroupConcat),
    *(exp.IgnoreNulls, exp.RespectNulls, exp.ToBase64, exp.FromBase64, exp.Abs, exp.Neg),
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.DateAdd, exp.DateSub, exp.DateDiff, exp.TsOrDsToDate),
    *(exp.StrToDate, exp.StrToTime, exp.UnixToTime, exp.TimeToUnix, exp.Date, exp.Timestamp),
    *(exp.JSONExtract, exp.JSONExtractScalar, exp.ParseJSON, exp.JSONFormat, exp.Bracket, exp.Dot),
    *(exp.Array, exp.Struct, exp.PropertyEQ, exp.Map, exp.VarMap, exp.ToMap, exp.Tuple, exp.Explode, exp.Order),
    *(exp.Split, exp.ArrayToString, exp.ArrayConcat, exp.ArrayFilter, exp.Flatten),
    *(exp.Not, exp.BitwiseNot, exp.DecodeCase, exp.JSONObject, exp.JSONKeyValue, exp.JSONArray, exp.ToChar),
)
"""The value itself, or what it can be computed from."""
LISTS = words(
    "array_agg array_concat_agg array_unique_agg collect_list collect_set group_array grouparray groupuniqarray "
    "listagg string_agg group_concat wm_concat json_agg jsonb_agg json_arrayagg json_group_array xmlagg"
)
"""Lists of values. `WITHIN GROUP` only orders them."""
SAME_NAMES = LISTS | words(
    "base64 unbase64 base64_encode base64_decode_string to_base64 from_base64 hex unhex to_hex from_hex to_utf8 encode "
    "url_encode url_decode to_json from_json parse_json json_value json_query get_json_object json_extract "
    "json_extract_path_text json_object json_build_object jsonb_build_object object_construct json_array "
    "json_build_array to_variant named_struct struct row map create_map map_from_arrays array_distinct array_sort "
    "sort_array array_join array_to_string array_concat element_at explode explode_outer posexplode unnest "
    "first last first_value last_value any arbitrary max_by min_by stats_mode lcase ucase ltrim rtrim btrim overlay "
    "nvl ifnull zeroifnull nullifzero to_date to_timestamp to_number safe_cast format format_string printf"
)

STATISTICS = (
    *(exp.Count, exp.CountIf, exp.Sum, exp.Avg, exp.Median, exp.ApproxDistinct, exp.LogicalAnd, exp.LogicalOr),
    *(exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop, exp.Corr, exp.CovarPop, exp.CovarSamp),
    *(exp.PercentileCont, exp.PercentileDisc, exp.Quantile, exp.ApproxQuantile),
    *(exp.Skewness, exp.Kurtosis, exp.RegrSlope, exp.RegrIntercept),
)
"""A number about many values."""
STATISTIC_NAMES = COUNTING | words(
    "sum avg mean stddev stdev stdevp stddev_pop stddev_samp variance var varp var_pop var_samp median percentile "
    "percentile_approx approx_percentile percentile_cont percentile_disc quantile approx_quantile every some bool_and "
    "bool_or booland_agg boolor_agg boolxor_agg corr covar_pop covar_samp skewness kurtosis entropy geometric_mean "
    "regr_slope regr_intercept regr_r2 regr_avgx regr_avgy total kahan_sum favg fsum"
)

CONDITIONS = (exp.Predicate, exp.RegexpLike, exp.RegexpILike, exp.StartsWith, exp.Contains)
"""Whether something holds of a value."""
