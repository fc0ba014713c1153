import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { ResponsesFunctionTool } from '#shared/formats/responses/request.ts';
import { codexToolName } from './codex-tool-name.ts';

/** A tool of the client, as Codex takes it. */
export interface CodexTool {
  name: string;
  description: string;
  /** JSON schema. */
  inputSchema: JsonObject;
}

/** Bytes of a schema of which Codex keeps the descriptions; beyond about 5,000 it drops them. */
const mostBytes = 4_000;

/** The keywords that Codex passes on, and those that tell the model nothing. Of others it makes something else, or nothing. */
const kept: ReadonlySet<string> = new Set(
  [
    ['type', 'properties', 'required', 'items', 'minItems', 'enum', 'description', 'additionalProperties'],
    ['anyOf', 'oneOf', 'allOf', '$ref', '$defs', 'title', '$schema'],
  ].flat(),
);

/** Keywords whose fields are names, with a schema each. */
const named: ReadonlySet<string> = new Set(['properties', '$defs']);

/** Keywords with values that are no schemas. */
const plain: ReadonlySet<string> = new Set(['type', 'required', 'enum']);

/** The tool for Codex. A schema that Codex would not pass on whole is also part of the description, for the model to read. */
export function codexTool({ name, description, parameters }: ResponsesFunctionTool): CodexTool {
  const inputSchema = parameters ?? { type: 'object', properties: {} };
  const text = JSON.stringify(inputSchema);
  const isWhole = Buffer.byteLength(text) <= mostBytes && isKept(inputSchema);
  const schema = isWhole ? [] : [`The parameters follow this JSON schema:\n${text}`];
  return {
    name: codexToolName(name),
    description: [description ?? '', ...schema].filter((part) => part !== '').join('\n\n'),
    inputSchema,
  };
}

/** Whether a schema has only keywords that Codex passes on. */
function isKept(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.every(isKept);
  if (!isJsonObject(schema)) return true;
  return Object.entries(schema).every(([keyword, value]) => {
    if (!kept.has(keyword)) return false;
    if (plain.has(keyword) || value === undefined) return true;
    if (named.has(keyword) && isJsonObject(value)) return Object.values(value).every((each) => isKept(each ?? null));
    return isKept(value);
  });
}
