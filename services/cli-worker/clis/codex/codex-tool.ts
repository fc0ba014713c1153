import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { ResponsesFunctionTool } from '#shared/formats/responses/request.ts';
import { createDistinctToolName } from '#shared/translate/responses/flatten-tools.ts';

export interface CodexTool {
  name: string;
  description: string;
  inputSchema: JsonObject;
}

/** Maximum bytes of a schema that is not repeated in the description. Codex drops the texts in a schema of more than about 5,000 bytes. */
const maxSchemaBytes = 4_000;

/** Keywords that Codex forwards unchanged, or that mean nothing to the model. Codex changes or drops all others. */
const keptKeywords: ReadonlySet<string> = new Set(
  [
    ['type', 'properties', 'required', 'items', 'minItems', 'enum', 'description', 'additionalProperties'],
    ['anyOf', 'oneOf', 'allOf', '$ref', '$defs', 'title', '$schema'],
  ].flat(),
);

/** Keywords with values that map names to schemas. */
const keywordsOfNamedSchemas: ReadonlySet<string> = new Set(['properties', '$defs']);

/** Keywords with values that are not schemas. */
const keywordsWithoutSchemas: ReadonlySet<string> = new Set(['type', 'required', 'enum']);

/** Returns the tool for Codex. If Codex would not forward the whole schema, the description repeats the schema for the model. */
export function toCodexTool({ name, description, parameters }: ResponsesFunctionTool): CodexTool {
  const inputSchema = parameters ?? { type: 'object', properties: {} };
  const text = JSON.stringify(inputSchema);
  const isPassedWhole = Buffer.byteLength(text) <= maxSchemaBytes && hasOnlyKeptKeywords(inputSchema);
  const schemaText = isPassedWhole ? [] : [`The parameters follow this JSON schema:\n${text}`];
  return {
    name: toCodexToolName(name),
    description: [description ?? '', ...schemaText].filter((part) => part !== '').join('\n\n'),
    inputSchema,
  };
}

/** Returns whether a schema has only `keptKeywords`. */
function hasOnlyKeptKeywords(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.every(hasOnlyKeptKeywords);
  if (!isJsonObject(schema)) return true;
  return Object.entries(schema).every(([keyword, value]) => {
    if (!keptKeywords.has(keyword)) return false;
    if (keywordsWithoutSchemas.has(keyword) || value === undefined) return true;
    if (keywordsOfNamedSchemas.has(keyword) && isJsonObject(value))
      return Object.values(value).every((schemaOfName) => hasOnlyKeptKeywords(schemaOfName ?? null));
    return hasOnlyKeptKeywords(value);
  });
}

/** Names that Codex accepts for a client's tools. */
const acceptedName = /^[\w-]{1,128}$/;

/** Names that Codex uses itself: the prefix of MCP servers' tools, and the tool of Codex that cannot be switched off. */
const reservedName = /^(?:mcp|mcp__.*|request_user_input)$/;

/**
 * Returns the name under which Codex offers a client's tool to its model: the client's name, or a replacement that is the same in every
 * request.
 */
export function toCodexToolName(name: string): string {
  if (acceptedName.test(name) && !reservedName.test(name)) return name;
  return createDistinctToolName(`client_${name.replaceAll(/[^\w-]/g, '_')}`, name, undefined);
}
