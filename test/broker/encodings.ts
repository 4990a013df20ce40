/** Every way a server may give a value back; what comes before shifts the alignment of base64. */
export const encodings: Readonly<Record<string, (value: string, before: string) => string | Buffer>> = {
	plain: (value, before) => `${before}${value}`,
	"upper case": (value) => value.toUpperCase(),
	json: (value, before) => JSON.stringify({ [before]: value }),
	"json in json": (value) => JSON.stringify(JSON.stringify(value)),
	"json with escaped slashes": (value) => JSON.stringify(value).replaceAll("/", "\\/"),
	"json in ASCII": (value) =>
		[...value].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
	encodeURIComponent: (value) => encodeURIComponent(value),
	encodeURI: (value) => encodeURI(value),
	form: (value, before) => new URLSearchParams({ before, value }).toString(),
	"percent twice": (value) => encodeURIComponent(encodeURIComponent(value)),
	"percent in full": (value) =>
		[...Buffer.from(value)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
	html: (value) => value.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("é", "&#233;"),
	base64: (value, before) => Buffer.from(`${before}${value}tail`).toString("base64"),
	"base64 alone": (value) => Buffer.from(value).toString("base64"),
	base64url: (value, before) => Buffer.from(`${before}${value}`).toString("base64url"),
	"base64 in lines": (value, before) => Buffer.from(`${before}${value}`).toString("base64").replace(/.{5}/g, "$&\r\n"),
	"base64 in a URL": (value, before) => encodeURIComponent(Buffer.from(`${before}${value}`).toString("base64")),
	hex: (value) => Buffer.from(value).toString("hex"),
	"HEX with colons": (value) => (Buffer.from(value).toString("hex").toUpperCase().match(/../g) ?? []).join(":"),
	reversed: (value) => [...value].reverse().join(""),
	"utf-16": (value) => Buffer.from(value, "utf16le"),
	binary: (value, before) =>
		Buffer.concat([Buffer.from([0, 255, 128]), Buffer.from(`${before}${value}`), Buffer.from([254])]),
};
