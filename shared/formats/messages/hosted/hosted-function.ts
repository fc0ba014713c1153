import type { JsonObject } from '#shared/core/json.ts';
import type { MessagesTool } from '../request.ts';
import { searchDescription } from '../../hosted/hosted-outcome.ts';
import { detectHostedKind } from './find-hosted-tools.ts';

/**
 * Functions in place of hosted tools, for models without these tools. Their inputs are the inputs of the format's `server_tool_use` blocks.
 */
const functionsByKind: Readonly<Record<'web_search' | 'web_fetch', { description: string; input_schema: JsonObject }>> =
  {
    web_search: {
      description: searchDescription,
      input_schema: {
        type: 'object',
        properties: { query: { type: 'string', description: 'What to search for.' } },
        required: ['query'],
      },
    },
    web_fetch: {
      description: 'Fetches the page of a web address that occurs in this conversation and returns its text.',
      input_schema: {
        type: 'object',
        properties: { url: { type: 'string', description: 'The address of the page.' } },
        required: ['url'],
      },
    },
  };

/** Converts a hosted tool to a client tool with a schema. Returns any other tool unchanged. */
export function toFunction(tool: MessagesTool): MessagesTool {
  const kind = detectHostedKind(tool);
  if (kind === undefined) return tool;
  const { name, cache_control: cache, defer_loading: deferred } = tool;
  return {
    name,
    ...functionsByKind[kind],
    ...(cache !== undefined && { cache_control: cache }),
    ...(deferred !== undefined && { defer_loading: deferred }),
  };
}
