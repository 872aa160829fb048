"""Two `target/` directories of dbt: what a project builds at the two ends of a change, and the edges of its code."""

import posixpath
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from whence.capture.dbt.artifacts.names import names
from whence.capture.dbt.code import project_code
from whence.capture.dbt.source import Artifacts, DbtProject
from whence.capture.sql.fingerprint.projects.code import ProjectCode
from whence.capture.sql.fingerprint.projects.versions import compare_projects
from whence.capture.sql.trials.refinement import try_changes
from whence.cli.answers.ask import Questions
from whence.cli.gate.code_versions import with_content
from whence.cli.gate.contracts.dbt_project import PROJECT
from whence.cli.gate.heads import Compared
from whence.cli.gate.renames import Rename, renamed_edge, renamed_node, renaming
from whence.cli.gate.repository import Repository, root_of
from whence.client.values.catalog import NodeFacts
from whence.errors import ArtifactError
from whence.govern.gate.impact import is_hidden
from whence.govern.gate.project import CodeEdges, edges_of, project_of
from whence.model.names import DatasetName, parse_node
from whence_client.captures import Naming

_JOBS = "dbt"
"""The namespace of the jobs of edges; only their ends are compared."""


@dataclass(frozen=True, kw_only=True)
class DbtTargets:
    """The directories that dbt wrote at the merge base and at the head. `namespace` is the warehouse's; by default it
    comes from the profile. `repository` is the checkout. `renames`: datasets by their names in production, `FROM=TO`.
    """

    base: Path
    head: Path
    repository: Path
    namespace: str = ""
    renames: tuple[str, ...] = ()

    def has(self, file: str) -> bool:
        """Whether a file of the repository is part of the project, whose compiled code is compared."""
        return self._folder is not None and (self._folder in ("", ".") or file.startswith(f"{self._folder}/"))

    def in_repository(self, file: str) -> str:
        """The path in the repository of a file that dbt names by its path in the project."""
        return posixpath.normpath(posixpath.join(self._folder or "", file)) if file else ""

    @cached_property
    def _folder(self) -> str | None:
        """The project's folder in the repository, or in the checkout that the directory is in; None if it is not known,
        as of one of several projects whose target directory is elsewhere.
        """
        target = self.head.resolve()
        folder = next((one for one in target.parents if (one / PROJECT).is_file()), target.parent)
        for root in (self.repository.resolve(), _checkout_of(folder)):
            if root and folder.is_relative_to(root):
                return folder.relative_to(root).as_posix()
        files = Repository(self.repository).files_at("HEAD", ".", PROJECT)
        folders = [posixpath.dirname(one) for one in files if posixpath.basename(one) == PROJECT]
        return folders[0] if len(folders) == 1 else None


def _checkout_of(folder: Path) -> Path | None:
    try:
        return root_of(folder).resolve()
    except ArtifactError:
        return None


def dbt_targets(
    head: Path | None, base: Path | None, repository: Path, namespace: str, renames: Sequence[str] = ()
) -> DbtTargets | None:
    """The directories, if both are given."""
    if head is None or base is None:
        return None
    return DbtTargets(base=base, head=head, repository=repository, namespace=namespace, renames=tuple(renames))


def compare_dbt(targets: DbtTargets, questions: Questions) -> Compared:
    """What a project changes, by the names of production.

    Raises ArtifactError without a manifest, or if the warehouse is unknown; and what `questions` raises.
    """
    base, head = (read_target(target, targets.namespace) for target in (targets.base, targets.head))
    versions = share_columns(project_code(base.project, base.warehouse), project_code(head.project, head.warehouse))
    rename = production_names((base, head), renaming(targets.renames, "--dbt-rename"), questions)
    changes = with_content(try_changes(compare_projects(*versions), *versions), *versions)
    named = tuple(replace(one, dataset=rename(one.dataset), file=targets.in_repository(one.file)) for one in changes)
    project = project_of([_edges(targets.base, base, rename)], [_edges(targets.head, head, rename)])
    return Compared(changes=named, project=project)


def share_columns(base: ProjectCode, head: ProjectCode) -> tuple[ProjectCode, ProjectCode]:
    """Both versions with the columns that one of them knows of sources and of seeds that are the same.

    The catalog is of a directory, not of a commit: that only one of them has it is no change.
    """
    built = {code.table for version in (base, head) for code in version.codes}
    return _completed(base, head, built), _completed(head, base, built)


def _completed(one: ProjectCode, other: ProjectCode, built: Set[str]) -> ProjectCode:
    seeds = {(code.table, code.content): code.columns for code in other.codes if code.kind == "seed"}
    codes = tuple(
        replace(code, columns=code.columns or seeds.get((code.table, code.content), ()))
        if code.kind == "seed"
        else code
        for code in one.codes
    )
    known = {table: columns for table, columns in other.columns.items() if table not in built}
    types = {table: columns for table, columns in other.types.items() if table not in built}
    return replace(one, codes=codes, columns={**known, **one.columns}, types={**types, **one.types})


def read_target(target: Path, namespace: str) -> Artifacts:
    """The artifacts of a target directory. Raises ArtifactError."""
    return DbtProject(target=target, namespace=namespace or None).read()


def _edges(target: Path, artifacts: Artifacts, rename: Rename) -> CodeEdges:
    found = edges_of(DbtProject(target=target).translate(artifacts, Naming(_JOBS)))
    return CodeEdges(
        graph=tuple(
            replace(one, source=renamed_node(one.source, rename), target=renamed_node(one.target, rename))
            for one in found.graph
        ),
        lineage=tuple(renamed_edge(one, rename) for one in found.lineage),
    )


def production_names(projects: Sequence[Artifacts], stated: Rename, questions: Questions) -> Rename:
    """`stated`, and of a table that production does not know the one with the same id of dbt (`model.shop.orders`).

    Production knows the ids of what `whence capture dbt` sent.
    """
    ids = {stated(table): own for one in projects for table, own in _ids(one)}
    known = {one.node for one in questions.facts([str(table) for table in ids])}
    wanted = {table: own for table, own in ids.items() if str(table) not in known}
    facts = {one.node: one for one in questions.facts(list(dict.fromkeys(map(str, wanted.values()))))}
    found = {table: name for table, own in wanted.items() if (name := _table_of(facts, own))}

    def rename(name: DatasetName) -> DatasetName:
        return found.get(stated(name), stated(name))

    return rename


def _ids(artifacts: Artifacts) -> Iterator[tuple[DatasetName, DatasetName]]:
    """The tables of a project, each with the name of its node, which production has as another name of its table."""
    named = names(artifacts.project, artifacts.warehouse, "dbt")
    return ((named.dataset(node), named.own(id_)) for id_, node in artifacts.project.nodes.items())


def _table_of(facts: Mapping[str, NodeFacts], own: DatasetName) -> DatasetName | None:
    """The table that has a node's name as another one; None if none has, or several have, as of two environments."""
    aliases = facts[str(own)].aliases if str(own) in facts else ()
    tables = [one for one in map(parse_node, aliases) if isinstance(one, DatasetName) and not is_hidden(one)]
    return tables[0] if tables else None
