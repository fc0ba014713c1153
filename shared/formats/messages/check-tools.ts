import { RouterError } from '#shared/core/errors.ts';
import type { MessagesRequest } from './request.ts';

/**
 * Checks the tools of a request. A client's tool needs a schema, and a choice can require only a tool of the request.
 * @throws RouterError `missing_parameter` or `invalid_request` that names the field
 */
export function checkTools({ tools, tool_choice: choice }: MessagesRequest): void {
  for (const [at, { type, input_schema: schema, defer_loading: isDeferred }] of (tools ?? []).entries()) {
    const isCustom = type === undefined || type === null || type === 'custom';
    // Claude Code sends placeholders without a schema for tools that it loads later.
    if (!isCustom || isDeferred === true || schema !== undefined) continue;
    const param = `tools.${at}.input_schema`;
    throw new RouterError('missing_parameter', `${param}: Field required`, { param });
  }
  if (choice?.type !== 'any' && choice?.type !== 'tool') return;
  if (!tools || tools.length === 0) throw createChoiceError('tool_choice', 'this choice needs `tools`');
  // Toolsets of an MCP server have no names in the request.
  if (choice.type !== 'tool' || tools.some(({ name }: { name?: string }) => name === undefined || name === choice.name))
    return;
  throw createChoiceError('tool_choice.name', 'no tool of the request has this name');
}

function createChoiceError(param: string, reason: string): RouterError {
  return new RouterError('invalid_request', `${param}: ${reason}`, { param });
}
