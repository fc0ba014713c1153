import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { MessagesTool } from '#shared/formats/messages/request.ts';
import type { ServerTool } from '../responses/flatten-tools.ts';

/** Whether a tool of a Responses request searches the web itself, not only a cache of the tool's vendor. */
export function isWebSearch({ tool }: ServerTool): boolean {
  return tool.type.startsWith('web_search') && tool['external_web_access'] !== false;
}

/**
 * Translates the web search tool of a Responses request to the one that a `messages` upstream runs (Anthropic API guide, "Web search
 * tool").
 */
export function toWebSearchTool({ tool }: ServerTool): MessagesTool {
  const { filters, user_location: location } = tool;
  const domains = isJsonObject(filters) ? filters['allowed_domains'] : undefined;
  return {
    type: 'web_search_20250305',
    name: 'web_search',
    ...(Array.isArray(domains) && domains.length > 0 && { allowed_domains: domains }),
    ...(isJsonObject(location) && { user_location: withoutNulls({ type: 'approximate', ...location }) }),
  };
}

function withoutNulls(fields: Record<string, Json | undefined>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
