"""Rewrites of texts that the parser rejects into forms that it accepts, tried in turn after a failed parse.

Each repair keeps what the statement reads, writes and moves, and drops or rewrites the rest.
"""

import re
from collections.abc import Callable, Iterator

from whence.capture.sql.dialects.dialects import Dialect

Rewrite = str | Callable[[re.Match[str]], str]
_I = re.IGNORECASE | re.DOTALL


def _rule(dialects: str, pattern: str, to: Rewrite) -> tuple[frozenset[str], re.Pattern[str], Rewrite]:
    return frozenset(dialects.split()), re.compile(pattern, _I), to


def _joined_update(match: re.Match[str]) -> str:
    """Teradata: a table right before SET needs an alias, since the parser reads SET as one."""
    bare = re.sub(r"(^|,\s*)([\w.\"]+)$", r"\1\2 AS _", match["from"])
    last = match["from"].rpartition(",")[2].strip().rpartition(".")[2]
    named = bare[:-1] + last if bare != match["from"] else bare
    return f"UPDATE {match['target']} FROM {named} SET {match['set']}{match['where'] or ''}"


def _merge_delete(match: re.Match[str]) -> str:
    """Oracle: DELETE WHERE after UPDATE becomes a WHEN of its own."""
    return f"MERGE{match['head']} WHEN MATCHED AND {match['gone']} THEN DELETE {match['rest'] or ''}"


def _join_alias(match: re.Match[str]) -> str:
    """PostgreSQL: the alias after USING names the merged columns."""
    text = match.group(0)
    return re.sub(
        rf"\b{match['name']}\.",
        "",
        text[: match.start("as") - match.start()] + text[match.end("name") - match.start() :],
    )


def _recursive_view(match: re.Match[str]) -> str:
    """A recursive view becomes a view of a recursive common table expression with its name."""
    inner = match["name"].rpartition(".")[2]
    query = f"WITH RECURSIVE {inner} {match['columns']} AS ({match['query']}) SELECT * FROM {inner}"
    return f"CREATE VIEW {match['name']} {match['columns']} AS {query}"


def _into_variable(match: re.Match[str]) -> str:
    """T-SQL: OUTPUT … INTO @t; the parser accepts the sign only in brackets."""
    return f"OUTPUT{match['columns']}INTO [{match['name']}]"


def _insert_from_dml(match: re.Match[str]) -> str:
    """T-SQL: INSERT … FROM (DELETE … OUTPUT …) AS x becomes a statement inside of WITH."""
    dml = re.sub(r"^(DELETE\b.*?)\s+(OUTPUT\b.*?)(\s+(?:FROM|WHERE)\b.*)$", r"\1\3 \2", match["dml"], flags=_I)
    named = f"{match['name']} {match['columns'] or ''}"
    return f"WITH {named} AS ({dml}) {match['into']} FROM {match['name']} {match['rest']}"


def _insert_exec(match: re.Match[str]) -> str:
    """T-SQL: INSERT … EXEC of a text becomes an INSERT of the query in it."""
    query = match["query"].replace("''", "'")
    return f"INSERT INTO {match[1]} {match[2] or ''} {query}"


def _update_query(match: re.Match[str]) -> str:
    """Oracle: UPDATE of a query updates the tables of its columns (`updates.update`)."""
    text, depth = match["rest"], 0
    for position, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            changed = re.match(r"\s*(?:\w+\s+)?(?=SET\b)", text[position + 1 :], re.IGNORECASE)
            if changed is None:
                break
            sets, where, rest = re.split(
                r"(\bWHERE\b|$)", text[position + 1 + changed.end() :], maxsplit=1, flags=re.IGNORECASE
            )
            name = changed[0].strip() or "v_"
            return f"UPDATE {name} {sets} FROM {text[: position + 1]} {name} {where}{rest}"
    return match[0]


def _create_as(match: re.Match[str]) -> str:
    """Remove the clauses between the name and the query of CREATE … AS."""
    words = match["kind"].upper().split()
    temporary = "TEMPORARY " if {"TEMP", "TEMPORARY", "VOLATILE"} & set(words) else ""
    return f"CREATE {temporary}{words[-1]} {match['name']} {match['columns'] or ''} AS "


def _partition_columns(match: re.Match[str]) -> str:
    """Impala: a column list before PARTITION; the partition columns without a value come last."""
    dynamic = [part.strip() for part in match[3].split(",") if "=" not in part]
    return f"{match[1]} ({', '.join([match[2], *dynamic])})"


def _aggregate_arguments(match: re.Match[str]) -> str:
    """ClickHouse: `f(1)(a)` becomes `f(1, a)` if the parser has no class for the aggregate."""
    name = match[1].lower()
    known = re.match(r"quantiles?|topk|grouparray(if)?$|groupuniqarray|histogram|uniq|window|sequence", name)
    return match[0] if known else f"{match[1]}{match[2]}, "


_RULES = (
    _rule("postgres", r"^.*\bUSING\s*\([^)]*\)(?P<as>\s+AS\s+)(?P<name>\w+).*$", _join_alias),
    _rule("hive impala", r"^CREATE\s+(?:TRANSACTIONAL|MANAGED|EXTERNAL)\s+TABLE\b", "CREATE TABLE"),
    _rule("hive", r"^(INSERT\s+OVERWRITE\s.*?)\s+IF\s+NOT\s+EXISTS\b", r"\1"),
    _rule("hive impala", r"^EXPORT\s+TABLE\s+(\S+)\s*(?:PARTITION\s*\([^)]*\))?\s*TO\s+('[^']*').*$",
        r"INSERT OVERWRITE DIRECTORY \2 SELECT * FROM \1"),
    _rule("impala teradata", r"^UPSERT\s+(INTO\s+)?(?:TABLE\s+)?", "INSERT INTO "),
    _rule("impala", r"^(INSERT\s+(?:INTO|OVERWRITE)\s+(?:TABLE\s+)?\S+)\s*\(([^()]*)\)\s*PARTITION\s*\(([^()]*)"
        r"\)", _partition_columns),
    _rule("snowflake", r"\bFILE_FORMAT\s*=\s*(?:[\w$]+|\"[^\"]+\")(?:\.(?:[\w$]+|\"[^\"]+\"))+", "FILE_FORMAT = f"),
    _rule("snowflake", r"^CREATE\s+(?:OR\s+REPLACE\s+)?PIPE\b.*?\bAS\s+(?=COPY\b)", ""),
    _rule("databricks", r"^CREATE\s+(?:OR\s+REFRESH\s+)?(?:PRIVATE\s+|TEMPORARY\s+)?(?:STREAMING\s+|MATERIALIZED\s+)?"
        r"(?:LIVE\s+)?(TABLE|VIEW)\b", r"CREATE \1"),
    _rule("databricks", r",?\s*CONSTRAINT\s+\w+\s+EXPECT\s*\((?:[^()]|\([^()]*\))*\)(?:\s+ON\s+VIOLATION\s+"
        r"(?:DROP\s+ROW|"
        r"FAIL\s+UPDATE))?", ""),
    _rule("databricks", r"^(CREATE\s+(?:TABLE|VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?[\w.`]+)\s*\(\s*\)", r"\1"),
    _rule("databricks", r"^CREATE\s+FLOW\s+\S+\s+AS\s+(?=INSERT\b)", ""),
    _rule("databricks", r"^(INSERT\s+INTO\s+(?:ONCE\s+)?\S+)\s+BY\s+NAME\b", r"\1"),
    _rule("bigquery", r"^CREATE\s+SNAPSHOT\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(\S+)\s+CLONE\s+(\S+).*$",
        r"CREATE TABLE \1 CLONE \2"),
    _rule("redshift", r"^CREATE\s+MODEL\s+(\S+)\s+FROM\s+(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*"
        r"\)).*$", r"CREATE TABLE \1 AS \2"),
    _rule("mysql", r"^ALTER\s+TABLE\s+(\S+)\s+EXCHANGE\s+PARTITION\s+\S+\s+WITH\s+TABLE\s+(\S+)"
        r".*$", r"ALTER TABLE \1 SWAP WITH \2"),
    _rule("", r"^CREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMP(?:ORARY)?\s+)?RECURSIVE\s+VIEW\s+(?P<name>\S+?)\s*"
        r"(?P<columns>\([^()]*\))\s*AS\s+"
        r"(?P<query>.*)$", _recursive_view),
    _rule("postgres redshift", r"^CREATE\s+(?:OR\s+REPLACE\s+)?RULE\b.*?\bDO\s+(?:ALSO\s+|INSTEAD\s+)?\(?\s*"
        r"(?=INSERT|UPDATE|DELETE)"
        r"(.*?)\)?$", r"\1"),
    _rule("snowflake", r"(\bCLONE\s+[\w.$\"]+)\s+(?:AT|BEFORE)\s*\([^()]*(?:\([^()]*\)[^()]*)*\).*$", r"\1"),
    _rule("snowflake databricks spark", r"\bIDENTIFIER\s*\(\s*'([\w.\"`]+)'\s*\)", r"\1"),
    _rule("", r"\s+WITH\s+(?:LOCAL\s+|CASCADED\s+)?CHECK\s+OPTION(?:\s+CONSTRAINT\s+\w+)?\s*$", ""),
    _rule("oracle", r"\s+WITH\s+READ\s+ONLY\s*$", ""),
    _rule("postgres redshift oracle", r"\bINTO\s+STRICT\b", "INTO"),
    _rule("", r"\s+WITH(?:OUT)?\s+(?:(?:UN)?CONDITIONAL\s+)?(?:ARRAY\s+)?WRAPPER\b", ""),
    _rule("", r"\s+(?:NULL|ERROR|EMPTY(?:\s+(?:ARRAY|OBJECT))?|DEFAULT\s+(?:'[^']*'|[\w.]+))\s+ON\s+"
        r"(?:EMPTY|ERROR)\b", ""),
    _rule("oracle mysql", r"((?:FROM|JOIN|INTO|UPDATE|INSERT|,)\s+[\w.$\"`]+)\s+(?:SUB)?PARTITION\s*(?:FOR\s*)?"
        r"\((?:[^()]|\([^()]*\))*\)", r"\1"),
    _rule("oracle", r"^UPDATE\s*(?P<rest>\(\s*(?:SELECT|WITH)\b.*)$", _update_query),
    _rule("oracle", r"^(MERGE\b.*?|INSERT\b.*?|UPDATE\b.*?|DELETE\b.*?)\s+LOG\s+ERRORS\b(?:\s+INTO\s+\S+)?(?:\s*"
        r"\([^)]*\))?(?:\s+REJECT\s+LIMIT\s+\w+)?\s*$", r"\1"),
    _rule("spark databricks", r"\b(?:window|session_window)\s*\((?=\s*[\w.`]+\s*,)", "time_window("),
    _rule("tsql", r"^(?P<into>INSERT\b.*?)\bFROM\s*\(\s*(?P<dml>(?:DELETE|UPDATE|MERGE|INSERT)\b.*?\bOUTPUT\b.*)\)\s*"
        r"(?:AS\s+)?(?P<name>\w+)\s*(?P<columns>\([^()]*\))?(?P<rest>[^()]*)$", _insert_from_dml),
    _rule("spark databricks", r"\s+WATERMARK\s+\S+\s+DELAY\s+OF\s+INTERVAL\s+\S+\s+\w+", ""),
    _rule("trino", r"\bTABLE\s*\(\s*([\w.]+)\s*\)(?=\s*(?:PARTITION|ORDER|,|\)|AS\b))", r"(SELECT * FROM \1)"),
    _rule("postgres duckdb trino mysql generic", r"^EXPLAIN\s+(?:ANALYZE\b|\([^()]*\bANALYZE\b[^()]*\))\s*"
        r"(?:VERBOSE\s+)?(?=INSERT|UPDATE|DELETE|MERGE|CREATE|WITH)", ""),
    _rule("sqlite", r"^UPDATE\s+OR\s+\w+\s+", "UPDATE "),
    _rule("teradata", r"^(CREATE\s+(?:\w+\s+)*?TABLE\s+[\w.\"]+)\s*(?:,\s*(?:NO\s+)?(?:LOG|FALLBACK|"
        r"(?:BEFORE|AFTER)\s+JOURNAL|\w+\s*=\s*\w+)"
        r"(?:\s+PROTECTION)?\s*)+(?=\(|AS\b)", r"\1 "),
    _rule("teradata", r"\bWITH\s+(NO\s+)?DATA\b.*$", r"WITH \1DATA"),
    _rule("teradata", r"^LOCK(?:ING)?\s.*?\bFOR\s+\w+(?:\s+MODE)?(?:\s+NOWAIT)?\s+"
        r"(?=INSERT|INS|UPDATE|DELETE|MERGE|SEL|LOCKING)", ""),
    _rule("teradata", r"\s+LOGGING\s+(?:ALL\s+)?ERRORS\b.*$", ""),
    _rule("teradata", r"^USING\s*\((?:[^()]|\([^()]*\))*\)\s*(?=INSERT|UPDATE|DELETE|MERGE|SEL)", ""),
    _rule("teradata", r"\b(BEGIN|END|LAST)\s*\((?=\s*[\w.]+\s*\))", r"PERIOD_\1("),
    _rule("teradata", r"(PERIOD_.*?)\b(?:CONTAINS|OVERLAPS|MEETS|PRECEDES|SUCCEEDS)\b", r"\1 = "),
    _rule("mysql", r"\b(?:ALGORITHM|DEFINER)\s*=\s*\S+\s+|\bSQL\s+SECURITY\s+\w+\s+", ""),
    _rule("tsql", r"\bOPENROWSET\s*\(\s*BULK\s+N?('[^']*')[^()]*\)(?:\s*WITH\s*\((?:[^()]|\([^()]*\))*"
        r"\))?", r"read_files(\1)"),
    _rule("tsql", r"^CREATE\s+TABLE\s+(\S+)\s+AS\s+CLONE\s+OF\s+(\S+).*$", r"CREATE TABLE \1 CLONE \2"),
    _rule("tsql", r"^DELETE\s+(?:TOP\s*\([^)]*\)\s*(?:PERCENT\s+)?)?FROM\s+([\w.\[\]]+)\s+FROM\b", r"DELETE \1 FROM"),
    _rule("tsql", r"^INSERT\s+TOP\s*\([^)]*\)\s*(?:PERCENT\s+)?(?:INTO\s+)?", "INSERT INTO "),
    _rule("tsql", r"\b(?:TRY_)?PARSE\s*\(([^()]+?)\s+AS\s+([\w()]+)(?:\s+USING\s+'[^']*')?\s*\)", r"CAST(\1 AS \2)"),
    _rule("tsql", r"\bOUTPUT\b(?P<columns>(?:(?!\bINTO\b).)*?)\bINTO\s+(?P<name>@\w+)", _into_variable),
    _rule("tsql", r"(\bAT\s+TIME\s+ZONE\s+'[^']*')(\s+AT\s+TIME\s+ZONE\s+(?:'[^']*'|\w+))+", r"\1"),
    _rule("tsql", r"^INSERT\s+(?:INTO\s+)?(\S+)\s*(\([^)]*\))?\s*EXEC(?:UTE)?\s*(?:sp_executesql\s+)?\(?\s*N?'"
        r"(?P<query>\s*(?:SELECT|WITH)"
        r"\b(?:[^']|'')*)'\s*\)?\s*$", _insert_exec),
    _rule("mysql", r"^REPLACE(\s+(?:LOW_PRIORITY|DELAYED))?(\s+INTO)?\s+(?=\S)", "INSERT INTO "),
    _rule("sqlite", r"^REPLACE\s+INTO\s+", "INSERT INTO "),
    _rule("mysql sqlite", r"^INSERT\s+(?:LOW_PRIORITY|HIGH_PRIORITY|DELAYED|IGNORE|OR\s+\w+)\s+", "INSERT "),
    _rule("databricks spark", r"^MERGE\s+WITH\s+SCHEMA\s+EVOLUTION\s+INTO\b", "MERGE INTO"),
    _rule("redshift", r"^(MERGE\b.*)\s+REMOVE\s+"
        r"DUPLICATES\s*$", r"\1 WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"),
    _rule("oracle", r"^CREATE\s+PRIVATE\s+TEMPORARY\s+TABLE\s+(\S+)\s+ON\s+COMMIT\s+\w+\s+"
        r"DEFINITION\b", r"CREATE TEMPORARY TABLE \1"),
    _rule("oracle", r"^(CREATE\s+(?:GLOBAL\s+TEMPORARY\s+)?TABLE\s+\S+)\s+(?!AS\b)(?:\w+\s+)+?AS\s+(?=SELECT|"
        r"WITH)", r"\1 AS "),
    _rule("postgres redshift", r"\bOVERRIDING\s+(?:SYSTEM|USER)\s+VALUE\b", ""),
    _rule("duckdb", r"\bAS\s+((?:UN)?PIVOT\b.*)$", r"AS SELECT * FROM (\1)"),
    _rule("spark databricks hive", r"^(INSERT\s.*?)\bTABLE\s+([\w.`]+)\s*$", r"\1 SELECT * FROM \2"),
    _rule("tsql", r"^(DELETE\b.*?)\s+(OUTPUT\s.*?)(\s+(?:FROM|WHERE)\b.*)$", r"\1\3 \2"),
    _rule("tsql", r"(\bOUTPUT\s+.*?)\s+INTO\s+(\w+)\.(\w+\s*\()", r"\1 INTO \2$$\3"),
    _rule(
        "hive spark databricks impala",
        r"\b(?:MAP|REDUCE)\s+((?:[\w.]+\s*,\s*)*[\w.]+)\s+USING\s+('[^']*')\s+AS\s+\(?((?:\w+\s*,\s*)*\w+)\)?",
        r"SELECT TRANSFORM(\1) USING \2 AS (\3)",
    ),
    _rule("", r"\s+WITH\s+(?:NO\s+)?DATA\s*$", ""),
    _rule("", r"\s+ON\s+COMMIT\s+(?:DROP|PRESERVE\s+ROWS|DELETE\s+ROWS)", ""),
    _rule("", r"^CREATE\s+(?:OR\s+REPLACE\s+)?TASK\b.*?\bAS\s+(?=INSERT|MERGE|UPDATE|DELETE|WITH|SELECT|CREATE|"
        r"COPY)", ""),
    _rule("databricks spark", r"^CREATE\s+(OR\s+REPLACE\s+)?TABLE\s+(IF\s+NOT\s+EXISTS\s+)?(\S+)\s+(?:DEEP|"
        r"SHALLOW)\s+CLONE\s+(\S+).*$", r"CREATE TABLE \3 CLONE \4"),
    _rule("redshift postgres", r"^ALTER\s+TABLE\s+(\S+)\s+APPEND\s+FROM\s+(\S+)"
        r".*$", r"INSERT INTO \1 SELECT * FROM \2"),
    _rule("hive spark impala", r"^ALTER\s+TABLE\s+(\S+)\s+EXCHANGE\s+PARTITION\s*\(.*?\)\s*WITH\s+TABLE\s+(\S+)"
        r".*$", r"INSERT INTO \1 SELECT * FROM \2"),
    _rule("clickhouse", r"^ALTER\s+TABLE\s+(\S+)\s+(?:ATTACH|REPLACE)\s+PARTITION\s+.*?\s+FROM\s+(\S+)"
        r".*$", r"INSERT INTO \1 SELECT * FROM \2"),
    _rule("oracle", r"^ALTER\s+TABLE\s+(\S+)\s+EXCHANGE\s+PARTITION\s+\S+\s+WITH\s+TABLE\s+(\S+)"
        r".*$", r"ALTER TABLE \1 SWAP WITH \2"),
    _rule("tsql", r"^ALTER\s+TABLE\s+(\S+)\s+SWITCH\s+(?:PARTITION\s+\S+\s+)?TO\s+(\S+)"
        r".*$", r"INSERT INTO \2 SELECT * FROM \1"),
    _rule("clickhouse", r"(\bLIMIT\s+\d+(?:\s*(?:,|OFFSET)\s*\d+)?\s+BY\s+[\w.,\s()]+?)\s+LIMIT\s+\d+[\w\s,]*$", r"\1"),
    _rule("clickhouse", r"^ALTER\s+TABLE\s+(\S+)\s+MOVE\s+PARTITION\s+.*?\s+TO\s+TABLE\s+(\S+).*$",
        r"INSERT INTO \2 SELECT * FROM \1"),
    _rule("clickhouse", r"^(CREATE\s+(?:OR\s+REPLACE\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?\S+)\s+(?:.*?\s)?CLONE"
        r"\s+AS\s+(\S+).*$", r"\1 CLONE \2"),
    _rule("clickhouse", r"^EXCHANGE\s+TABLES\s+(\S+)\s+AND\s+(\S+).*$", r"ALTER TABLE \1 SWAP WITH \2"),
    _rule("clickhouse", r"^ALTER\s+TABLE\s+(\S+)\s+UPDATE\s+(.*)$", r"UPDATE \1 SET \2"),
    _rule("teradata", r"^(?:UPDATE|UPD)\s+(?P<target>\S+)\s+FROM\s+(?P<from>.*?)\s+SET\s+(?P<set>.*?)"
        r"(?P<where>\s+WHERE\s+.*)?$", _joined_update),
    _rule("teradata", r"\(\s*(?:FORMAT\s+'[^']*'|TITLE\s+'[^']*')\s*\)", ""),
    _rule("teradata", r"\(\s*NAMED\s+(\w+)\s*\)", r" AS \1"),
    _rule("tsql", r"\b(UPDATE|DELETE)\s+TOP\s*\([^)]*\)\s*(?:PERCENT\s+)?", r"\1 "),
    _rule("tsql", r"(\b[\w.\[\]]+)\s*([-+*/%&|^])=\s*", r"\1 = \1 \2 "),
    _rule("tsql", r"^INSERT\s+(?:INTO\s+)?(\S+)\s+(?:WITH\s*\([^)]*\)\s*)", r"INSERT INTO \1 "),
    _rule("tsql", r"(\bINSERT\s+INTO\s+\S+)\s+WITH\s*\([^)]*\)", r"\1"),
    _rule("", r"\bWHERE\s+CURRENT\s+OF\s+@?\w+", ""),
    _rule("tsql", r"\bOPTION\s*\([^()]*(?:\([^()]*\)[^()]*)*\)\s*$", ""),
    _rule("tsql", r"\bWITH\s*\(\s*(?:NOLOCK|TABLOCKX?|HOLDLOCK|UPDLOCK|ROWLOCK|READPAST|XLOCK|PAGLOCK)[^)]*\)", ""),
    _rule("oracle", r"^MERGE\b(?P<head>.*?WHEN\s+MATCHED\s+THEN\s+UPDATE\s+SET.*?)\s+DELETE\s+WHERE\s+"
        r"(?P<gone>.*?)(?P<rest>WHEN\s+NOT.*)?$", _merge_delete),
    _rule("oracle", r"(?<![\w:]):(\d+)", r":b\1"),
    _rule("spark databricks hive", r"^INSERT\s+OVERWRITE\s+(LOCAL\s+)?DIRECTORY\s+('[^']*')\s+(?:USING\s+\w+|"
        r"STORED\s+AS\s+\w+)\s*(?:OPTIONS\s*\([^)]*\))?", r"INSERT OVERWRITE DIRECTORY \2 "),
    _rule("spark databricks trino", r"^REPLACE\s+TABLE\s+", "CREATE OR REPLACE TABLE "),
    _rule("snowflake", r"\bRENAME\s*(\([^()]*\))\s*REPLACE\s*(\((?:[^()]|\([^()]*\))*\))", r"REPLACE \2 RENAME \1"),
    _rule("snowflake", r"^CREATE\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?(?:DYNAMIC|INTERACTIVE)\s+TABLE\s+(\S+)"
        r"\b.*?\bAS\s+(?=SELECT|WITH|\()", r"CREATE TABLE \1 AS "),
    _rule("", r"^CREATE\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?(?:FORCE\s+|SECURE\s+|RECURSIVE\s+)*MATERIALIZED\s+"
        r"VIEW\s+(?:IF\s+NOT\s+EXISTS\s+)?(\S+)\s*(\([^()]*\))?.*?\bAS\s+(?=SELECT|WITH|"
            r"\()", r"CREATE VIEW \1 \2 AS "),
    _rule("mysql", r"^LOAD\s+DATA\b.*?\bINFILE\s+('[^']*').*?\bINTO\s+TABLE\s+([\w.`]+)"
        r".*$", r"LOAD DATA INPATH \1 INTO TABLE \2"),
    _rule("clickhouse", r"(\w+)(\([^()]*)\)\s*\((?=[^()])", _aggregate_arguments),
    _rule("", r"\bFINAL\b(?=\s*(?:$|WHERE|PREWHERE|GROUP|ORDER|,|\)|JOIN|LEFT|INNER))", ""),
    _rule("clickhouse", r"^(WITH\s.*?\bFROM\s+\S+)\s+(PREWHERE\b.*?)\s+FINAL\b", r"\1 FINAL \2"),
    _rule("", r"(?<=[\s(,=<>])%\((\w+)\)s", r":\1"),
    _rule("", r"/\*.*?\*/", " "),
    _rule("", r"^CREATE\s+(?:OR\s+REPLACE\s+)?(?P<kind>(?:\w+\s+){0,4}?(?:TABLE|VIEW))\s+(?:IF\s+NOT\s+EXISTS\s+)?"
        r"(?P<name>[\w.$`\"\[\]#]+)\s*(?P<columns>\(\s*\w+(?:\s*,\s*\w+)*\s*\))?.*?\bAS\s+(?=SELECT\b|WITH\b|"
        r"\(\s*SELECT\b)", _create_as),
)  # fmt: skip
_MAX_CHARACTERS = 30_000
"""Some patterns scan the rest of the text from each of its positions."""
_JINJA = (
    (re.compile(r"\{#.*?#\}", re.DOTALL), " "),
    (re.compile(r"\{%.*?%\}", re.DOTALL), " "),
    (re.compile(r"\{\{-?\s*ref\(\s*(?:'[^']*'\s*,\s*)?['\"]([^'\"]+)['\"][^}]*\}\}"), r"\1"),
    (re.compile(r"\{\{-?\s*source\(\s*['\"]([^'\"]+)['\"]\s*,\s*['\"]([^'\"]+)['\"][^}]*\}\}"), r"\1.\2"),
    (re.compile(r"\{\{-?\s*(?:config|set)\b[^}]*\}\}"), " "),
    (re.compile(r"\{\{-?\s*this\s*-?\}\}"), "this"),
    (re.compile(r"'\{\{-?[^}]*\}\}'"), "'x'"),
    (re.compile(r"\{\{-?\s*(?:\w+\.)*(\w+)[^}]*\}\}"), r"\1"),
    (re.compile(r"'\$\{[^}]*\}'"), "'x'"),
    (re.compile(r"\$\{(?:\w+:)?([A-Za-z_]\w*)[^}]*\}"), r"\1"),
    (re.compile(r"(?<![\w{])\{([A-Za-z_]\w*)\}(?!\})"), r"\1"),
)


def repair_candidates(text: str, dialect: Dialect) -> Iterator[str]:
    """Yield alternative texts for a statement: each repair alone, then all repairs up to it."""
    if len(text) > _MAX_CHARACTERS:
        return
    seen = {text}
    accumulated = text
    for dialects, pattern, to in _RULES:
        if dialects and dialect.name not in dialects:
            continue
        alone = pattern.sub(to, text)
        accumulated = pattern.sub(to, accumulated)
        for candidate in (alone, accumulated):
            if candidate not in seen:
                seen.add(candidate)
                yield candidate
    if "{" in text:
        without_jinja = accumulated
        for pattern, to in _JINJA:
            without_jinja = pattern.sub(to, without_jinja)
        if without_jinja not in seen:
            yield without_jinja
