"""COPY, LOAD, UNLOAD, EXPORT: between tables and files. A file or stage is a table with one part, its path."""

from whence.capture.sql.lineage import RESULT, Table
from whence.capture.sql.provenance.relations import Relation
from whence.capture.sql.queries.queries import query
from whence.capture.sql.queries.reading import Reading
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.statements.moves import Effects, Move
from whence.capture.sql.statements.targets import listed_columns, place_by_position, target_of
from whence.capture.sql.syntax import classes as c
from whence.capture.sql.syntax import tree


def copy(reading: Reading, node: tree.Node) -> Effects:
    """COPY INTO a table or a stage; COPY … FROM or TO a file."""
    table_node = tree.this(node)
    files = [one for one in tree.list_arg(node, tree.FILES) if not _is_channel(one)]
    result = Effects("copy")
    if len(files) < len(tree.list_arg(node, tree.FILES)):
        return _copy_channel(reading, table_node, tree.arg(node, tree.KIND) is True, result)
    if tree.arg(node, tree.KIND) is not True:
        _write_files(reading, table_node, [_file(file) for file in files], result)
    elif is_file(table_node):
        _write_files(reading, files[0], [_file(table_node)], result)
    else:
        _load_table(reading, table_node, files, result)
    return result


def is_file(node: tree.Node) -> bool:
    """Whether a node is a path or a stage."""
    if isinstance(node, c.Literal):
        return True
    return isinstance(node, c.Table) and isinstance(tree.this(node), c.Var | c.Literal)


def _is_channel(node: tree.Node) -> bool:
    """Whether a node is STDIN, STDOUT or a PROGRAM: the caller, which is no dataset."""
    text, quoted = tree.text_of(node)
    return isinstance(node, c.Identifier) and not quoted and text.lower() in ("stdin", "stdout", "program")


def _copy_channel(reading: Reading, table_node: tree.Node, is_input: bool, result: Effects) -> Effects:
    if is_input:
        result.writes.append(target_of(reading, table_node))
        return result
    relation = _source(reading, table_node)
    result.moves.append(Move(RESULT, relation.outputs, relation.rows, adds=False))
    result.reads |= relation.reads
    return result


def _file(node: tree.Node) -> Table:
    return Table((tree.text_of(node)[0],))


def _load_table(reading: Reading, table_node: tree.Node, files: list[tree.Node], result: Effects) -> None:
    target = target_of(reading, table_node)
    result.writes.append(target)
    for file in files:
        if tree.query_in(file) is not None:
            relation = query(file, Scope(reading))
            columns = place_by_position(reading, target, relation.outputs, listed_columns(reading, table_node))
            result.add_move(Move(target, columns, relation.rows), relation.reads)
        elif isinstance(file, c.Table) and not is_file(file):
            result.reads.add(target_of(reading, file))
        else:
            result.reads.add(_file(file))


def _write_files(reading: Reading, source: tree.Node, files: list[Table], result: Effects) -> None:
    relation = _source(reading, source)
    for target in files:
        result.add_move(Move(target, relation.outputs, relation.rows, adds=False), relation.reads)


def _source(reading: Reading, node: tree.Node) -> Relation:
    names = listed_columns(reading, node)
    relation = query(tree.this(node) if isinstance(node, c.Schema) else node, Scope(reading))
    if not names:
        return relation
    outputs = [relation.find(name) or relation.guess(name) for name in names]
    return Relation([output for output in outputs if output is not None], relation.rows, relation.reads)


def export(reading: Reading, node: tree.Node) -> Effects:
    """BigQuery's EXPORT DATA."""
    result = Effects("export")
    _write_files(reading, tree.this(node), _uris(tree.arg(node, "options")) or [Table(("export",))], result)
    return result


def load(reading: Reading, node: tree.Node) -> Effects:
    """LOAD DATA: the rows of a file into a table."""
    inpath = tree.arg(node, tree.INPATH)
    files = [_file(inpath)] if isinstance(inpath, tree.Node) else _uris(tree.arg(node, tree.FILES))
    return Effects("load", reads=set(files), writes=[target_of(reading, tree.this(node))])


def _uris(options: tree.Node | None) -> list[Table]:
    """The files of the options `uri` or `uris`."""
    files: list[Table] = []
    for item in tree.items(options) if options is not None else []:
        if tree.text_of(tree.this(item))[0].lower() in ("uri", "uris"):
            files += [Table((tree.text_of(text)[0],)) for text in tree.arg(item, "value").find_all(c.Literal)]
    return files
