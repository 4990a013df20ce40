export { documentBytes, etagOf } from "./bytes.js";
export {
	type DocumentInput,
	type DocumentPlugin,
	type DocumentTool,
	deriveDocument,
	derivedCapabilities,
} from "./derive.js";
export { type DocumentChange, diffDocuments, diffLines } from "./diff.js";
export { embeddedDocument } from "./embedded.js";
export { type Match, type MatchFailure, type MatchRule, matchDocument } from "./match.js";
export { matchFiles } from "./match-files.js";
export { publishDocument } from "./publish.js";
export { maxRuntimeDocumentBytes, readBytes, readDocument } from "./read-file.js";
export { formatProblems, type ReportFormat } from "./report.js";
export {
	type FileKind,
	kindOfName,
	type ValidateOptions,
	type Validation,
	validateBytes,
	validateFile,
} from "./validate.js";
