"""SQLGlot's classes have the arguments that this reader asks them for: they are renamed between minor versions."""

import pytest

from whence.capture.sql.syntax import classes as c

ARGUMENTS = {
    c.Select: ("expressions", "kind", "from_", "joins", "laterals", "where", "prewhere", "group", "having", "qualify"),
    c.Query: (),
    c.Union: ("this", "expression", "by_name", "with_", "order"),
    c.With: ("expressions",),
    c.CTE: ("this", "alias", "scalar"),
    c.Table: ("this", "alias", "db", "catalog", "joins", "pivots", "laterals", "rows_from", "partition"),
    c.TableAlias: ("this", "columns"),
    c.Column: ("this", "table", "db", "catalog", "join_mark"),
    c.Identifier: ("this", "quoted", "temporary"),
    c.Literal: ("this", "is_string"),
    c.Star: ("except_", "replace", "rename", "ilike"),
    c.Subquery: ("this", "alias", "joins", "pivots"),
    c.Lateral: ("this", "alias"),
    c.Unnest: ("expressions", "alias", "offset"),
    c.Pivot: ("expressions", "fields", "unpivot", "using", "group", "columns", "into", "value_columns_first", "alias"),
    c.Window: ("this", "partition_by", "order", "alias", "over"),
    c.Filter: ("this", "expression"),
    c.WithinGroup: ("this", "expression"),
    c.Case: ("this", "ifs", "default"),
    c.If: ("this", "true", "false"),
    c.Nvl2: ("this", "true", "false"),
    c.DecodeCase: ("expressions",),
    c.Exists: ("this",),
    c.Lambda: ("this", "expressions"),
    c.Insert: ("this", "expression", "conflict", "returning", "overwrite", "by_name", "where", "source", "with_"),
    c.Schema: ("this", "expressions"),
    c.MultitableInserts: ("expressions", "source", "kind"),
    c.ConditionalInsert: ("this", "expression", "else_"),
    c.Update: ("this", "expressions", "from_", "where", "returning", "order", "with_"),
    c.Delete: ("this", "using", "where", "tables", "returning", "order", "with_"),
    c.Merge: ("this", "using", "on", "using_cond", "whens", "returning", "with_"),
    c.When: ("matched", "source", "condition", "then"),
    c.Create: ("this", "kind", "expression", "properties", "clone", "with_"),
    c.Alter: ("this", "actions"),
    c.Copy: ("this", "kind", "files"),
    c.LoadData: ("this", "inpath", "files"),
    c.Export: ("this", "options"),
    c.Use: ("this", "kind"),
    c.Drop: ("kind", "tables"),
    c.Cache: ("this", "expression"),
    c.OpenJSON: ("this", "expressions"),
    c.JSONTable: ("this", "schema"),
    c.XMLTable: ("passing", "columns"),
    c.QueryTransform: ("expressions", "schema"),
    c.Apply: ("this", "expression"),
    c.Declare: ("expressions",),
    c.DeclareItem: ("this", "default"),
    c.Parameter: ("this",),
    c.Comprehension: ("this", "expression", "iterator", "condition"),
}


@pytest.mark.parametrize("kind", ARGUMENTS, ids=lambda kind: kind.__name__)
def test_a_class_has_its_arguments(kind: type[c.Expr]) -> None:
    assert set(ARGUMENTS[kind]) <= set(kind.arg_types)
