"""COPY, LOAD, UNLOAD, EXPORT: between tables and files. A file or stage is a table of one part, its path."""

from whence.capture.sql import classes as c
from whence.capture.sql import tree
from whence.capture.sql.lineage import RESULT, Table
from whence.capture.sql.moves import Move, Moved
from whence.capture.sql.queries import query
from whence.capture.sql.reading import Reading
from whence.capture.sql.relations import Relation
from whence.capture.sql.scopes import Scope
from whence.capture.sql.targets import listed_columns, placed, target_of


def copy(reading: Reading, node: tree.Node) -> Moved:
    """COPY INTO a table or a stage; COPY … FROM or TO a file."""
    place = tree.this(node)
    files = [one for one in tree.listed(node, tree.FILES) if not _is_channel(one)]
    result = Moved("copy")
    if len(files) < len(tree.listed(node, tree.FILES)):
        return _channelled(reading, place, tree.arg(node, tree.KIND) is True, result)
    if tree.arg(node, tree.KIND) is not True:
        _out(reading, place, [_file(one) for one in files], result)
    elif is_file(place):
        _out(reading, files[0], [_file(place)], result)
    else:
        _into(reading, place, files, result)
    return result


def is_file(node: tree.Node) -> bool:
    """A path or a stage, not a table."""
    if isinstance(node, c.Literal):
        return True
    return isinstance(node, c.Table) and isinstance(tree.this(node), c.Var | c.Literal)


def _is_channel(node: tree.Node) -> bool:
    """STDIN, STDOUT or a PROGRAM: the caller, and no dataset."""
    text, quoted = tree.text_of(node)
    return isinstance(node, c.Identifier) and not quoted and text.lower() in ("stdin", "stdout", "program")


def _channelled(reading: Reading, place: tree.Node, inwards: bool, result: Moved) -> Moved:
    if inwards:
        result.writes.append(target_of(reading, place))
        return result
    relation = _source(reading, place)
    result.moves.append(Move(RESULT, relation.outputs, relation.rows, adds=False))
    result.reads |= relation.reads
    return result


def _file(node: tree.Node) -> Table:
    return Table((tree.text_of(node)[0],))


def _into(reading: Reading, place: tree.Node, files: list[tree.Node], result: Moved) -> None:
    target = target_of(reading, place)
    result.writes.append(target)
    for one in files:
        if tree.query_in(one) is not None:
            relation = query(one, Scope(reading))
            columns = placed(reading, target, relation.outputs, listed_columns(reading, place))
            result.into(Move(target, columns, relation.rows), relation.reads)
        elif isinstance(one, c.Table) and not is_file(one):
            result.reads.add(target_of(reading, one))
        else:
            result.reads.add(_file(one))


def _out(reading: Reading, source: tree.Node, files: list[Table], result: Moved) -> None:
    relation = _source(reading, source)
    for target in files:
        result.into(Move(target, relation.outputs, relation.rows, adds=False), relation.reads)


def _source(reading: Reading, node: tree.Node) -> Relation:
    names = listed_columns(reading, node)
    relation = query(tree.this(node) if isinstance(node, c.Schema) else node, Scope(reading))
    if not names:
        return relation
    found = [relation.find(name) or relation.guess(name) for name in names]
    return Relation([one for one in found if one is not None], relation.rows, relation.reads)


def export(reading: Reading, node: tree.Node) -> Moved:
    """BigQuery's EXPORT DATA."""
    result = Moved("export")
    _out(reading, tree.this(node), _uris(tree.arg(node, "options")) or [Table(("export",))], result)
    return result


def load(reading: Reading, node: tree.Node) -> Moved:
    """LOAD DATA: a file's rows into a table."""
    inpath = tree.arg(node, tree.INPATH)
    files = [_file(inpath)] if isinstance(inpath, tree.Node) else _uris(tree.arg(node, tree.FILES))
    return Moved("load", reads=set(files), writes=[target_of(reading, tree.this(node))])


def _uris(options: tree.Node | None) -> list[Table]:
    """The values of `uri` or `uris`."""
    found: list[Table] = []
    for one in tree.items(options) if options is not None else []:
        if tree.text_of(tree.this(one))[0].lower() in ("uri", "uris"):
            found += [Table((tree.text_of(text)[0],)) for text in tree.arg(one, "value").find_all(c.Literal)]
    return found
