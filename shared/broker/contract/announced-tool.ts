import { z } from 'zod';
import { isJsonObject, nestsTooDeeply, type Json, type JsonObject } from '#shared/core/json.ts';
import { announcedName, announcedText } from './announced-text.ts';
import { contentKinds } from './server-content.ts';

/** A JSON object that is not nested too deeply. Lists of tools contain the object again, as JSON. */
const jsonObject = z.record(z.string(), z.unknown()).refine((value) => !nestsTooDeeply(value as JsonObject));

/**
 * Validates the JSON Schema of a tool's arguments or output. MCP clients must accept it: if a client does not accept the schema of one
 * tool, it refuses the whole list of tools. Clients accept only objects as the schemas of properties, so the schemas `true` and `false` are
 * replaced by objects.
 */
const objectSchema = jsonObject.transform(replaceBooleanSchemas).refine(isObjectSchema);

function replaceBooleanSchemas(schema: Record<string, unknown>): Record<string, unknown> {
  const { properties } = schema;
  if (!isJsonObject(properties) || !Object.values(properties).some((each) => typeof each === 'boolean')) return schema;
  const replaced = Object.entries(properties).map(([name, each]) => [name, replaceBooleanSchema(each)]);
  return { ...schema, properties: Object.fromEntries(replaced) };
}

function replaceBooleanSchema(schema: Json | undefined): Json | undefined {
  if (typeof schema !== 'boolean') return schema;
  return schema ? {} : { not: {} };
}

function isObjectSchema({ type, properties, required }: Record<string, unknown>): boolean {
  const hasValidProperties =
    properties === undefined || (isJsonObject(properties) && Object.values(properties).every(isJsonObject));
  const hasValidRequired =
    required === undefined || (Array.isArray(required) && required.every((each) => typeof each === 'string'));
  return type === 'object' && hasValidProperties && hasValidRequired;
}

/** Annotations that MCP clients accept. */
const annotationsSchema = z.looseObject({
  title: z.string().optional(),
  readOnlyHint: z.boolean().optional(),
  destructiveHint: z.boolean().optional(),
  idempotentHint: z.boolean().optional(),
  openWorldHint: z.boolean().optional(),
});

/** A tool that a worker announces, or the content of an MCP server. */
export const toolSchema = z.object({
  name: announcedName,
  /** The name that the tool's MCP server uses, if that name is not valid in all formats. Clients can call the tool by either name. */
  givenName: announcedName.optional().catch(undefined),
  title: announcedText(200).optional().catch(undefined),
  description: z.string(),
  inputSchema: objectSchema,
  /** JSON Schema of `structuredContent`, of type object. */
  outputSchema: objectSchema.optional().catch(undefined),
  /** The MCP server's annotations on the tool's effects (Model Context Protocol, "Tool annotations"). They are hints, not guarantees. */
  annotations: jsonObject
    .refine((value) => annotationsSchema.safeParse(value).success)
    .optional()
    .catch(undefined),
  /** The operator's name for the tool's MCP server; absent for the worker's own tools. */
  server: announcedName.optional().catch(undefined),
  /**
   * The kinds of content that an MCP server offers besides tools. Present only on the entry that stands for the content of a server, see
   * `contentName`; absent for a tool.
   */
  passes: z
    .array(z.string())
    .transform((kinds) => contentKinds.filter((kind) => kinds.includes(kind)))
    .optional(),
});
