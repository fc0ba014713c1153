import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { MessagesTool } from '#shared/formats/messages/request.ts';
import type { ServerTool } from '../responses/flatten-tools.ts';

/** Whether a tool of a Responses request searches the web itself, and not just the cache of its vendor. */
export function isWebSearch({ tool }: ServerTool): boolean {
  return tool.type.startsWith('web_search') && tool['external_web_access'] !== false;
}

/**
 * Translates the web search tool of a Responses request to the web search tool of `messages` upstreams (Anthropic API guide, "Web search
 * tool").
 */
export function toWebSearchTool({ tool }: ServerTool): MessagesTool {
  const { filters, user_location: location } = tool;
  const domains = isJsonObject(filters) ? filters['allowed_domains'] : undefined;
  return {
    type: 'web_search_20250305',
    name: 'web_search',
    ...(Array.isArray(domains) && domains.length > 0 && { allowed_domains: domains }),
    ...(isJsonObject(location) && { user_location: omitNulls({ type: 'approximate', ...location }) }),
  };
}

function omitNulls(fields: Record<string, Json | undefined>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
