"""Models: what a model file includes, with refinements applied in the order of the includes."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from whence.capture.bi.lookml.files import Project
from whence.capture.bi.lookml.merging import merge
from whence.errors import ArtifactError
from whence.openlineage.json.wire import Json

_MODEL = ".model.lkml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model: its connection, and the views and explores that it includes, before extends. `gaps` name the rest."""

    name: str
    connection: str
    views: Mapping[str, Json]
    explores: Mapping[str, Json]
    gaps: Mapping[str, str]


def read_models(project: Project) -> dict[str, Model]:
    """The models of a project by name."""
    paths = [path for path in project.lookml if path.endswith(_MODEL)]
    return {name: _model(name, path, project) for path in paths for name in [PurePosixPath(path).name[: -len(_MODEL)]]}


def _model(name: str, path: str, project: Project) -> Model:
    gaps: dict[str, str] = {}
    views, explores = dict[str, Json](), dict[str, Json]()
    connection = ""
    for one in _included(path, project, gaps):
        content = project.lookml[one]
        connection = str(content.get("connection") or connection)
        _add(views, content.get("views") or (), one, gaps)
        _add(explores, content.get("explores") or (), one, gaps)
    return Model(name=name, connection=_constant(connection, project), views=views, explores=explores, gaps=gaps)


def _constant(text: str, project: Project) -> str:
    return re.sub(r"@\{(\w+)\}", lambda found: project.constants.get(found[1], found[0]), text)


def _add(known: dict[str, Json], specs: list[Json] | tuple[()], path: str, gaps: dict[str, str]) -> None:
    for spec in specs:
        name = str(spec["name"])
        if not name.startswith("+"):
            known[name] = spec
            continue
        refined = name[1:]
        if refined in known:
            known[refined] = {**merge(known[refined], spec), "name": refined}
        else:
            gaps[f"{path}: {name}"] = f"it refines {refined}, which is not included before it"


def _included(path: str, project: Project, gaps: dict[str, str], passed: set[str] | None = None) -> Iterator[str]:
    """The files that a file includes, each before the file that includes it, and then itself."""
    passed = passed if passed is not None else set()
    if path in passed:
        return
    passed.add(path)
    for pattern in project.lookml[path].get("includes") or ():
        try:
            found = _matching(str(pattern), path, project)
        except ArtifactError as error:
            gaps[f"{path}: include {pattern}"] = error.reason
            continue
        for one in found:
            yield from _included(one, project, gaps, passed)
    yield path


def _matching(pattern: str, path: str, project: Project) -> list[str]:
    """The files of LookML that a pattern names. Raises ArtifactError if there are none here."""
    if pattern.startswith("//"):
        raise ArtifactError(pattern, "it is of an imported project, whose files are not here")
    whole = pattern[1:] if pattern.startswith("/") else _beside(path, pattern)
    expression = _expression(whole)
    found = [one for one in project.lookml if any(expression.fullmatch(form) for form in (one, one[: -len(".lkml")]))]
    others = [
        one
        for one in (*project.dashboards, *project.flaws)
        if expression.fullmatch(one) or expression.fullmatch(one[: one.rfind(".")])
    ]
    if not found and not others:
        raise ArtifactError(pattern, "no file has this name")
    return sorted(found)


def _beside(path: str, pattern: str) -> str:
    parts: list[str] = []
    for part in (*PurePosixPath(path).parent.parts, *PurePosixPath(pattern).parts):
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _expression(pattern: str) -> re.Pattern[str]:
    """`*` is any text in one folder, `**` any number of folders."""
    parts = re.split(r"(\*\*/|\*\*|\*)", pattern)
    forms = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}
    return re.compile("".join(forms.get(part) or re.escape(part) for part in parts))
