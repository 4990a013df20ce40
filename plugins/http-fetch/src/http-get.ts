import { defineTool, type HostValue, type JsonObject, PluginFailure } from "@mortise/sdk";

const defaultCharacters = 20_000;
const headersOfInterest = [
	"content-type",
	"content-length",
	"content-language",
	"last-modified",
	"etag",
	"location",
	"retry-after",
];

/** `http_get { url }`: the status, the headers of interest and the body's text, cut to `max_characters`. */
export const httpGet = defineTool({
	name: "http_get",
	input: {
		type: "object",
		additionalProperties: false,
		required: ["url"],
		properties: { url: { type: "string", maxLength: 8192 } },
	},
	async run({ url }, { host, config }) {
		if (!/^https?:\/\/[^\s/]/i.test(url))
			throw new PluginFailure("invalid_input", "arguments.url must be an http: or https: address");
		if (host.http === undefined) throw new PluginFailure("unauthorized", "http is not granted to this plugin");
		const response = await host.http({
			method: "GET",
			url,
			headers: [["accept", "text/*, application/json, application/xml;q=0.9, */*;q=0.1"]],
			...(typeof config.timeout_ms === "number" ? { timeoutMs: config.timeout_ms } : {}),
		});
		const body = textOfBody(response);
		const most = typeof config.max_characters === "number" ? config.max_characters : defaultCharacters;
		const characters = body === undefined ? 0 : countCharacters(body);
		const cut = body !== undefined && characters > most;
		const structured = { status: response.status, headers: pick(response.headers), characters, cut };
		const content = [
			`HTTP ${response.status}`,
			...Object.entries(structured.headers).map(([name, value]) => `${name}: ${value}`),
			"",
			body === undefined ? "(the body is not text)" : cut ? firstCharacters(body, most) : body,
			...(cut ? ["", `(cut: ${most} of ${characters} characters shown)`] : []),
		].join("\n");
		return { content, structured, isError: response.status >= 400 };
	},
});

/** The body as text; `undefined` when it is not. The host gives text where the bytes are UTF-8, else base64. */
function textOfBody({ body, headers }: HostValue<"http">): string | undefined {
	if ("text" in body) return body.text;
	const type = headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
	if (!/^(text\/|application\/([\w.+-]*\+)?(json|xml|javascript|xhtml\+xml))/i.test(type)) return undefined;
	const binary = atob(body.base64);
	const latin = /charset\s*=\s*"?(iso-8859-1|latin1|us-ascii|windows-1252)/i.test(type);
	if (latin) return binary;
	return new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)));
}

function pick(headers: readonly (readonly [string, string])[]): JsonObject & Record<string, string> {
	const picked: Record<string, string> = {};
	for (const name of headersOfInterest) {
		const values = headers.filter(([own]) => own.toLowerCase() === name).map(([, value]) => value);
		if (values.length > 0) picked[name] = values.join(", ");
	}
	return picked;
}

function countCharacters(value: string): number {
	let count = 0;
	for (const _ of value) count++;
	return count;
}

function firstCharacters(value: string, most: number): string {
	let end = 0;
	let count = 0;
	for (const character of value) {
		if (count++ === most) break;
		end += character.length;
	}
	return value.slice(0, end);
}
