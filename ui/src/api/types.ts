// The types of the API's answers, by the names that pages use. All of them are generated from the OpenAPI document.

import type { components } from "./schema";

type Schemas = components["schemas"];

export type AccessReview = Schemas["AccessReview"];
export type Affected = Schemas["Affected"];
export type AffectedRecord = Schemas["AffectedRecord"];
export type ApprovalRow = Schemas["ApprovalRow"];
export type AuditEntry = Schemas["AuditEntry"];
export type Change = Schemas["Change"];
export type ChangeRecord = Schemas["ChangeRecord"];
export type ChangedPart = Schemas["ChangedPart"];
export type ChangesUpstream = Schemas["ChangesUpstream"];
export type ChangeUpstream = Schemas["ChangeUpstream"];
export type CheckResult = Schemas["CheckResult"];
export type CheckResults = Schemas["CheckResults"];
export type QualityScore = Schemas["QualityScoreDocument"];
export type Completeness = Schemas["Completeness"];
export type ContractHistory = Schemas["ContractHistory"];
export type Covered = Schemas["NamespaceCoverage"];
export type CurrentUser = Schemas["CurrentUser"];
export type Dataset = Schemas["Dataset"];
export type Diff = Schemas["Diff"];
export type Edge = Schemas["Edge"];
export type EventEntry = Schemas["Event"];
export type ReceivedEvent = Schemas["EventWithPayload"];
export type Evidence = Schemas["Evidence"];
export type EvidenceKey = Schemas["EvidenceKey"];
/** Facts as the editors read them; a node's own document has them, too, without its types. */
export type Facts = Omit<Schemas["DatasetFacts"], "types"> | Omit<Schemas["JobFacts"], "types">;
export type FailedIn = Schemas["FailedIn"];
export type Found = Schemas["Found"];
export type Gap = Schemas["Gap"];
export type Governance = Schemas["Governance"];
export type Grant = Schemas["GrantDocument"];
export type Grants = Schemas["GrantsDocument"];
export type Hiding = Schemas["HidingDocument"];
export type History = Schemas["History"];
export type Impact = Schemas["Impact"];
export type IncidentDocument = Schemas["IncidentDocument"];
export type LineageBaseline = Schemas["LineageBaselineDocument"];
export type IncidentList = Schemas["IncidentList"];
export type Job = Schemas["Job"];
export type Key = Schemas["KeyDocument"];
export type Kpi = Schemas["Kpi"];
export type GroupedLabels = Schemas["GroupedLabels"];
export type Lineage = Schemas["Lineage"];
export type LostRecord = Schemas["LostRecord"];
export type Measurement = Schemas["Measurement"];
export type Measurements = Schemas["Measurements"];
export type NodeStanding = Schemas["NodeStanding"];
export type NewKey = Schemas["NewKey"];
export type OwnSession = Schemas["SessionOf"];
export type Path = Schemas["Path"];
export type Paths = Schemas["Paths"];
export type Progress = Schemas["ProgressDocument"];
export type QuarantinedBody = Schemas["Body"];
export type Quarantined = Schemas["Refused"];
export type Reached = Schemas["NodeReached"];
export type RuleStateRow = Schemas["RuleStateRow"];
export type Run = Schemas["Run"];
export type RunOf = Schemas["RunOf"];
export type RunSeen = Schemas["RunSeen"];
export type AssertingEvent = Schemas["AssertingEvent"];
export type SchemaChange = Schemas["SchemaChange"];
export type SignInMethods = Schemas["SignInMethods"];
export type SloDetail = Schemas["SloDetail"];
export type SloList = Schemas["SloList"];
export type SloRow = Schemas["SloRow"];
export type Status = Schemas["StatusDocument"];
export type Tag = Schemas["Tag"];
export type Sensitivity = Schemas["SensitivityLabels"];
export type Traits = Schemas["Traits"];
export type Transformation = Schemas["Transformation"];
export type Trouble = Schemas["Trouble"];
export type Troubles = Schemas["Troubling"];
export type TwinsReport = Schemas["TwinsDocument"];
export type Unfinished = Schemas["UnfinishedRun"];
export type Verified = Schemas["Verification"];
export type Version = Schemas["Version"];
export type DatasetVersion = Schemas["VersionOfDataset"];
export type DatasetVersions = Schemas["VersionsOfDataset"];

/** An answer to a question about the graph. */
export type Envelope<Data> = Omit<Schemas["Envelope_Lineage_"], "data"> & { data: Data };
/** One object of the catalog, or all rows of a list. */
export type One<Data> = Omit<Schemas["One_Job_"], "data"> & { data: Data };
/** A page of a list. */
export type Listed<Row> = Omit<Schemas["Rows_Event_"], "data"> & { data: Row[] };
/** A page of rows that an object contains. */
export type PageOf<Data> = Omit<Schemas["PageOf_Covering_"], "data"> & { data: Data };
export type RecordedVerdict = Schemas["RecordedVerdict"];
export type VerdictRecord = Schemas["VerdictRecord"];
export type PromotionRow = Schemas["PromotionRow"];
export type VerdictRow = Schemas["VerdictRow"];
export type WaiverRow = Schemas["WaiverRow"];
