import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { changeAddedTools } from './hosted/request-tools.ts';
import type { ResponsesItem, ResponsesTool } from './request.ts';

/**
 * The request fields that the response object repeats. The values are the defaults that the response shows for fields that the request
 * omits.
 */
const repeatedDefaults: Readonly<Record<string, Json>> = {
  background: false,
  frequency_penalty: 0,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  presence_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: true,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  user: null,
};

/** Names of object fields with defaults for the fields inside the object. */
const fieldsWithDefaults: ReadonlySet<string> = new Set(['reasoning', 'text']);

/** Returns the fields that the response object repeats from a request, with defaults for fields that the request omits. */
export function readRepeatedFields(request: JsonObject): JsonObject {
  const fields = Object.entries(repeatedDefaults).map(([field, defaultValue]): [string, Json] => {
    const value = request[field] ?? defaultValue;
    if (fieldsWithDefaults.has(field) && isJsonObject(value) && isJsonObject(defaultValue))
      return [field, { ...defaultValue, ...value }];
    return [field, field === 'tools' && Array.isArray(value) ? value.map(toShownTool) : value];
  });
  return Object.fromEntries(fields);
}

/** Maximum JSON characters of a field that the ingress keeps for the duration of an answer. */
const maxKeptCharacters = 4096;

/** Returns the repeated fields and the model, for an answer that is opened before a worker has begun. Long fields get their defaults. */
export function readOpeningFields(request: JsonObject): JsonObject {
  const shortFields = Object.keys(repeatedDefaults).map((field): [string, Json | undefined] => {
    const value = request[field];
    const length = typeof value === 'object' ? JSON.stringify(value).length : String(value).length;
    return [field, length > maxKeptCharacters ? undefined : value];
  });
  return { ...readRepeatedFields(Object.fromEntries(shortFields)), model: request['model'] };
}

/**
 * Returns a tool as the response object repeats it. A function gets all of its fields, because clients' parsers expect them. Secrets are
 * removed from all other tools.
 */
function toShownTool(tool: Json): Json {
  if (!isJsonObject(tool) || tool['type'] !== 'function') return removeSecrets(tool);
  return { description: null, parameters: null, strict: null, ...tool };
}

export const responseIdPrefix = 'resp_';

/** The states of a response that this router writes. */
export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed';

/** The fields that differ between the response objects of one answer. */
export interface ResponseState {
  id: string;
  model: string;
  /** Seconds since 1970. */
  created: number;
  status: ResponseStatus;
  /** See `readRepeatedFields`. */
  repeated: JsonObject;
  /** Seconds since 1970. Set for the status `completed`. */
  completed?: number | undefined;
  output?: JsonObject[];
  usage?: JsonObject | undefined;
  incompleteReason?: 'max_output_tokens' | 'content_filter' | undefined;
  error?: { code: string; message: string } | undefined;
}

/** Returns the response object (OpenAI API reference, "The response object"). Unknown fields are null. */
export function createResponseObject(state: ResponseState): JsonObject {
  const { id, model, created, status, repeated, completed, output, usage, incompleteReason, error } = state;
  return {
    id,
    object: 'response',
    created_at: created,
    completed_at: completed ?? null,
    status,
    error: error ?? null,
    incomplete_details: incompleteReason === undefined ? null : { reason: incompleteReason },
    model,
    output: output ?? [],
    ...repeated,
    usage: usage ?? null,
  };
}

/**
 * Returns a tool as answers and the store contain it. Removes the credentials of an MCP server: `authorization`, `headers`, and all of the
 * URL except its origin, because some URLs contain keys (OpenAI API guide, "Connectors and MCP servers").
 */
export function removeSecrets(tool: Json): Json {
  if (!isJsonObject(tool) || tool['type'] !== 'mcp') return tool;
  const { authorization: _, headers: __, server_url: url, ...rest }: JsonObject = tool;
  const origin = typeof url === 'string' ? URL.parse(url)?.origin : undefined;
  return origin === undefined ? rest : { ...rest, server_url: origin };
}

export function removeSecretsOfItems(items: readonly JsonObject[]): JsonObject[] {
  const responsesItems = items as readonly ResponsesItem[];
  return changeAddedTools(responsesItems, (tools) => tools.map(removeSecrets) as ResponsesTool[]);
}
