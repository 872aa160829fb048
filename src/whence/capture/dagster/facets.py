"""What Dagster knows of runs, steps and assets, as facets: those of the specification, and Whence's own."""

from collections.abc import Iterator, Mapping
from typing import Any

from whence.capture.dagster.metadata import metadata_of, pairs
from whence.capture.dagster.records import Key, key_of, text_of
from whence.capture.dagster.steps import Attempt
from whence.openlineage.json.wire import Json
from whence_client.events.facets import Facet, facet, own_facet
from whence_client.events.runs import error_facet, extraction_error_facet, job_type_facet
from whence_client.process.commit import Commit, code_facets, web_address

_SYSTEM = ("dagster/", ".dagster/")
_CODE_VERSION, _DATA_VERSION = "dagster/code_version", "dagster/data_version"
_ROWS = ("dagster/partition_row_count", "dagster/row_count")
_PARTITIONS = 100
_TRIGGERS = {
    "schedule": "dagster/schedule_name",
    "sensor": "dagster/sensor_name",
    "backfill": "dagster/backfill",
    "partition": "dagster/partition",
}


def run_facets(run: Json, gaps: Mapping[str, str]) -> dict[str, Facet]:
    """The facets of a run: its tags, and its configuration as parameters."""
    tags = pairs(run.get("tags"))
    known = {
        "runId": run["runId"],
        "status": run.get("status"),
        "user": tags.get("user"),
        "parentRunId": run.get("parentRunId"),
        "rootRunId": run.get("rootRunId"),
        **{name: tags.get(tag) for name, tag in _TRIGGERS.items()},
    }
    own = {"whence_dagsterRun": own_facet("DagsterRunFacet", **_known(known))}
    return {**own, **_parameters(run.get("runConfig")), **_run_tags(tags), **gap_facets(gaps)}


def attempt_facets(run: Json, attempt: Attempt, gaps: Mapping[str, str]) -> dict[str, Facet]:
    """The facets of a try of a step."""
    made = sorted({str(one["partition"]) for one in (*attempt.made, *attempt.seen) if one.get("partition")})
    known = {
        "runId": run["runId"],
        "stepKey": attempt.step,
        "tryNumber": attempt.number,
        "partitions": made[:_PARTITIONS],
        "partitionCount": len(made),
    }
    return {"whence_dagsterStep": own_facet("DagsterStepFacet", **_known(known)), **gap_facets(gaps)}


def job_facets(run: Json, kind: str, code: Json | None = None) -> dict[str, Facet]:
    """The facets of a job or step. `code` is the place of its code, if its assets' metadata has it."""
    return {"jobType": job_type_facet(kind, "DAGSTER"), **_code(code or {}, _commit(run))}


def gap_facets(gaps: Mapping[str, str]) -> dict[str, Facet]:
    """What is not known of a run."""
    return {"extractionError": extraction_error_facet(gaps)} if gaps else {}


def failure_facet(event: Json, default: str) -> Facet:
    """The error of a step or run: the exception that the user's code raised rather than Dagster's own around it."""
    error = event.get("error") or {}
    raised = next(iter(error.get("causes") or ()), error)
    message = str(raised.get("message") or event.get("message") or default).strip()
    stack = "".join(raised.get("stack") or error.get("stack") or ())
    return error_facet(message, f"{stack.rstrip()}\n{message}" if stack else "")


def asset_facets(key: Key, definition: Json) -> dict[str, Facet]:
    """The dataset facets of an asset: description, owners and tags of today's definition."""
    own = {
        "key": text_of(key),
        "group": definition.get("groupName"),
        "kinds": sorted(definition.get("kinds") or ()),
    }
    return {
        "whence_dagsterAsset": own_facet("DagsterAssetFacet", **_known(own)),
        **_described(definition.get("description")),
        **_owned(definition.get("owners") or ()),
        **_asset_tags(pairs(definition.get("tags"))),
    }


def made_facets(events: list[Json]) -> dict[str, Facet]:
    """The facets of this run's materializations of one asset: rows, versions, partitions, and numbers of metadata."""
    last = events[-1]
    tags, numbers = pairs(last.get("tags")), metadata_of(last).numbers()
    partitions = sorted({str(one["partition"]) for one in events if one.get("partition")})
    code_version = tags.get(_CODE_VERSION)
    known = {
        "codeVersion": code_version if code_version != last.get("runId") else None,
        "dataVersion": tags.get(_DATA_VERSION),
        "partitions": partitions[:_PARTITIONS],
        "partitionCount": len(partitions),
        "metadata": numbers,
    }
    rows = [_rows(one) for one in events]
    own = {"whence_dagsterMaterialization": own_facet("DagsterMaterializationFacet", **_known(known))}
    if None in rows:
        return own
    rows_facet = facet("OutputStatisticsOutputDatasetFacet", rowCount=sum(filter(None, rows)))
    return {**own, "outputStatistics": rows_facet}


def assertions_facet(checked: list[Json]) -> Facet:
    """The results of the checks of one asset."""
    return facet("DataQualityAssertionsDatasetFacet", assertions=[_assertion(one["evaluation"]) for one in checked])


def _assertion(found: Json) -> Json:
    numbers = metadata_of(found).numbers()
    partition = found.get("partition")
    members: Json = {
        "assertion": str(found["checkName"]),
        "success": bool(found["success"]),
        "name": f"{text_of(key_of(found['assetKey']))}:{found['checkName']}",
        "severity": str(found["severity"]).lower(),
        "description": str(found.get("description") or ""),
        "actual": ", ".join(f"{label}={value}" for label, value in numbers.items()),
        "params": {"partition": partition} if partition else {},
    }
    return {key: value for key, value in members.items() if value not in ("", {})}


def _rows(event: Json) -> int | None:
    """The rows of a materialization. Those of all partitions together are no number of a partition's."""
    numbers = metadata_of(event).numbers()
    found = next((numbers[label] for label in _ROWS if label in numbers), None)
    return int(found) if found is not None else None


def _parameters(config: Any) -> dict[str, Facet]:
    listed = [{"key": name, "name": name, "value": value} for name, value in _leaves(config, ())]
    return {"executionParameters": facet("ExecutionParametersRunFacet", parameters=listed)} if listed else {}


def _leaves(config: Any, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if isinstance(config, dict):
        for name in sorted(config, key=str):
            yield from _leaves(config[name], (*path, str(name)))
    elif path:
        yield ".".join(path), str(config)


def _run_tags(tags: Mapping[str, str]) -> dict[str, Facet]:
    own = {name: value for name, value in sorted(tags.items()) if not name.startswith(_SYSTEM)}
    listed = [{"key": name, "value": value or name, "source": "DAGSTER"} for name, value in own.items()]
    return {"tags": facet("TagsRunFacet", tags=listed)} if listed else {}


def _asset_tags(tags: Mapping[str, str]) -> dict[str, Facet]:
    own = {name: value for name, value in sorted(tags.items()) if not name.startswith(_SYSTEM)}
    listed = [{"key": name, "value": value or name, "source": "DAGSTER"} for name, value in own.items()]
    return {"tags": facet("TagsDatasetFacet", tags=listed)} if listed else {}


def _described(text: object) -> dict[str, Facet]:
    return {"documentation": facet("DocumentationDatasetFacet", description=text)} if text else {}


def _owned(owners: Any) -> dict[str, Facet]:
    names = [str(one.get("email") or f"team:{one['team']}") for one in owners]
    return {"ownership": facet("OwnershipDatasetFacet", owners=[{"name": one} for one in names])} if names else {}


def _commit(run: Json) -> Commit | None:
    """The commit of a code location, which Dagster+ keeps with each run."""
    origin = run.get("repositoryOrigin") or {}
    known = pairs(origin.get("repositoryLocationMetadata"))
    if not (sha := known.get("commit_hash", "")):
        return None
    url = known.get("url", "")
    repository, _, _ = url.partition("/tree/")
    return Commit(sha, web_address(repository))


def _code(code: Json, commit: Commit | None) -> dict[str, Facet]:
    path = str(code.get("filePath") or "")
    if path:
        return code_facets(path, int(code.get("lineNumber") or 0), None)
    if url := str(code.get("url") or ""):
        return {"sourceCodeLocation": facet("SourceCodeLocationJobFacet", type="git", url=url, **_version(commit))}
    if commit and commit.repository:
        return {
            "sourceCodeLocation": facet(
                "SourceCodeLocationJobFacet",
                type="git",
                url=f"{commit.repository}/tree/{commit.sha}",
                repoUrl=commit.repository,
                version=commit.sha,
            )
        }
    return {}


def _version(commit: Commit | None) -> Json:
    return {"version": commit.sha, "repoUrl": commit.repository} if commit and commit.repository else {}


def _known(members: Json) -> Json:
    return {name: value for name, value in members.items() if value not in (None, "", [], {}, 0)}
