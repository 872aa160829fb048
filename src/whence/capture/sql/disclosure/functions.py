"""What functions show of their arguments. Functions that are in no list are not known: everything, assumed."""

from sqlglot import exp

from whence.capture.sql.dialects.functions import words

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
    *(exp.DayOfWeek, exp.DayOfMonth, exp.DayOfYear, exp.Monthname, exp.Dayname),
    *(exp.Round, exp.Floor, exp.Ceil, exp.Mod, exp.WidthBucket, exp.Sign, exp.ArraySize),
)
"""A part of each value, as a rule: `round(amount, 2)` of amounts in cents is all of it."""
PART_NAMES = words(
    "trunc truncate bucket char_length character_length octet_length bit_length instr locate position hour minute "
    "second datename substring_index weekday dayname monthname ascii soundex metaphone"
)
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
    *(exp.Array, exp.Struct, exp.Tuple, exp.Explode, exp.Order, exp.Split),
)
"""The value itself, or what it can be computed from."""

STATISTICS = (
    *(exp.Count, exp.CountIf, exp.Sum, exp.Avg, exp.Median, exp.ApproxDistinct, exp.LogicalAnd, exp.LogicalOr),
    *(exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop, exp.Corr, exp.CovarPop, exp.CovarSamp),
    *(exp.PercentileCont, exp.PercentileDisc, exp.Quantile, exp.ApproxQuantile),
    *(exp.Skewness, exp.Kurtosis, exp.RegrSlope, exp.RegrIntercept),
)
"""A number about many values."""

CONDITIONS = (exp.Predicate, exp.Connector, exp.Not, exp.RegexpLike, exp.RegexpILike, exp.StartsWith, exp.Contains)
"""Whether something holds of a value."""
