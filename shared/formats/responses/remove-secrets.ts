import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { changeAddedTools } from './hosted/request-tools.ts';
import type { ResponsesItem, ResponsesTool } from './request.ts';

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
