"""The queries that a poll sends to Dagster's GraphQL API (1.13)."""

_ENTRIES = """
metadataEntries {
  __typename label
  ... on TextMetadataEntry { text }
  ... on PathMetadataEntry { path }
  ... on UrlMetadataEntry { url }
  ... on IntMetadataEntry { intRepr }
  ... on FloatMetadataEntry { floatValue }
  ... on BoolMetadataEntry { boolValue }
  ... on TimestampMetadataEntry { timestamp }
  ... on TableSchemaMetadataEntry { schema { columns { name type description } } }
  ... on TableColumnLineageMetadataEntry {
    lineage { columnName columnDeps { assetKey { path } columnName } }
  }
  ... on CodeReferencesMetadataEntry {
    codeReferences {
      ... on LocalFileCodeReference { filePath lineNumber }
      ... on UrlCodeReference { url }
    }
  }
}
"""
_ERROR = "error { message className stack causes { message className stack } }"
_ASSET_EVENT = f"""
__typename runId timestamp stepKey assetKey {{ path }} partition description tags {{ key value }} {_ENTRIES}
"""
_MATERIALIZATION = f"... on MaterializationEvent {{ {_ASSET_EVENT} }}"
_OBSERVATION = f"... on ObservationEvent {{ {_ASSET_EVENT} }}"

VERSION = "query WhenceVersion { version }"

LOCATIONS = """query WhenceLocations {
  workspaceOrError {
    __typename
    ... on Workspace { locationEntries { name locationOrLoadError { __typename ... on PythonError { message } } } }
    ... on PythonError { message }
  }
}"""

RUNS = """query WhenceRuns($filter: RunsFilter, $cursor: String, $limit: Int) {
  runsOrError(filter: $filter, cursor: $cursor, limit: $limit) {
    __typename
    ... on Runs {
      results { runId jobName status creationTime endTime updateTime repositoryOrigin { repositoryLocationName } }
    }
    ... on InvalidPipelineRunsFilterError { message }
    ... on PythonError { message }
  }
}"""

RUN = """query WhenceRun($run: ID!) {
  runOrError(runId: $run) {
    __typename
    ... on Run {
      runId jobName status creationTime startTime endTime updateTime parentRunId rootRunId runConfig
      tags { key value }
      repositoryOrigin { repositoryName repositoryLocationName repositoryLocationMetadata { key value } }
    }
    ... on RunNotFoundError { message }
    ... on PythonError { message }
  }
}"""

LOG = f"""query WhenceLog($run: ID!, $cursor: String, $limit: Int) {{
  logsForRun(runId: $run, afterCursor: $cursor, limit: $limit) {{
    __typename
    ... on EventConnection {{
      cursor hasMore
      events {{
        __typename
        ... on MessageEvent {{ timestamp stepKey solidHandleID }}
        ... on ExecutionStepFailureEvent {{ {_ERROR} }}
        ... on ExecutionStepUpForRetryEvent {{ {_ERROR} }}
        ... on RunFailureEvent {{ message {_ERROR} }}
        ... on RunCanceledEvent {{ message }}
        ... on AssetMaterializationPlannedEvent {{ assetKey {{ path }} }}
        ... on AssetCheckEvaluationEvent {{
          evaluation {{ checkName assetKey {{ path }} severity success description partition {_ENTRIES} }}
        }}
        {_MATERIALIZATION}
        {_OBSERVATION}
      }}
    }}
    ... on RunNotFoundError {{ message }}
    ... on PythonError {{ message }}
  }}
}}"""

ASSETS = """query WhenceAssets($cursor: String, $limit: Int) {
  assetsOrError(cursor: $cursor, limit: $limit) {
    __typename
    ... on AssetConnection { cursor nodes { key { path } latestMaterializationTimestamp latestObservationTimestamp } }
    ... on PythonError { message }
  }
}"""

HISTORY = f"""query WhenceHistory($key: AssetKeyInput!, $after: String, $cursor: String, $limit: Int!) {{
  assetOrError(assetKey: $key) {{
    __typename
    ... on Asset {{
      assetEventHistory(
        eventTypeSelectors: [MATERIALIZATION, OBSERVATION], afterTimestampMillis: $after, cursor: $cursor, limit: $limit
      ) {{ cursor results {{ {_MATERIALIZATION} {_OBSERVATION} }} }}
    }}
    ... on AssetNotFoundError {{ message }}
  }}
}}"""

DESCRIBE = f"""query WhenceDescribe($keys: [AssetKeyInput!], $before: String) {{
  assetsOrError(assetKeys: $keys) {{
    __typename
    ... on AssetConnection {{
      nodes {{
        key {{ path }}
        assetMaterializations(limit: 1, beforeTimestampMillis: $before) {{ {_ASSET_EVENT} }}
        definition {{
          description groupName kinds isPartitioned dependencyKeys {{ path }} tags {{ key value }}
          owners {{ ... on UserAssetOwner {{ email }} ... on TeamAssetOwner {{ team }} }}
          {_ENTRIES}
        }}
      }}
    }}
    ... on PythonError {{ message }}
  }}
}}"""

LOG_EVENTS = frozenset(
    (
        "RunStartEvent",
        "RunSuccessEvent",
        "RunFailureEvent",
        "RunCanceledEvent",
        "ExecutionStepStartEvent",
        "ExecutionStepRestartEvent",
        "ExecutionStepUpForRetryEvent",
        "ExecutionStepSuccessEvent",
        "ExecutionStepFailureEvent",
        "AssetMaterializationPlannedEvent",
        "AssetCheckEvaluationEvent",
        "MaterializationEvent",
        "ObservationEvent",
    )
)
"""The events of a run's log that a record keeps."""
