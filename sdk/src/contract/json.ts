import { z } from "zod";

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** A JSON object whose members are not looked at here. */
export const JsonObject: z.ZodType<JsonObject> = z.record(z.string(), z.json()) as z.ZodType<JsonObject>;

/** A JSON Schema (2020-12) given as an object; its own validity is checked where it is compiled. */
export const JsonSchema = z.record(z.string(), z.unknown());
export type JsonSchema = z.infer<typeof JsonSchema>;
