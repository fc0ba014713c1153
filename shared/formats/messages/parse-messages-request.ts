import type { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject } from '#shared/core/json.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';
import { createProblemError } from './problem-error.ts';
import type { MessagesRequest, MessagesMessage, MessagesBlock } from './request.ts';
import { countTokensRequestSchema, messagesRequestSchema } from './schema.ts';

/**
 * Checks the body of a `messages` request and returns the same object.
 * @throws RouterError `missing_parameter` or `invalid_request`; message and `param` contain a path such as `messages.0.content`
 */
export function parseMessagesRequest(body: unknown): MessagesRequest {
  return parse(messagesRequestSchema, body) as MessagesRequest;
}

/**
 * Checks the body of a token count request, which has no `max_tokens`.
 * @throws RouterError, see `parseMessagesRequest`
 */
export function parseCountTokensRequest(body: unknown): MessagesRequest {
  return parse(countTokensRequestSchema, body) as MessagesRequest;
}

function parse(schema: z.ZodObject, body: unknown): unknown {
  refuseThread(body);
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw createProblemError(findFirstProblem(parsed.error, body));
  const request = body as MessagesRequest;
  checkToolResults(request.messages);
  checkSources(request.messages);
  checkTools(request);
  return body;
}

/**
 * Refuses requests that continue a conversation on the server. The router stores no conversations, so the history would be missing. Clients
 * that receive these error details send the whole history instead.
 */
function refuseThread(body: unknown): void {
  if (!isJsonObject(body) || body['thread'] === undefined || body['thread'] === null) return;
  throw new RouterError('invalid_request', 'thread: conversations held by the server are not supported', {
    param: 'thread',
    details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  });
}

function checkToolResults(messages: readonly MessagesMessage[]): void {
  const callIds = new Set<string>();
  for (const [at, { content }] of messages.entries()) {
    if (typeof content === 'string') continue;
    for (const [position, block] of content.entries()) {
      if (block.type === 'tool_use') callIds.add(block.id);
      if (block.type !== 'tool_result' || callIds.has(block.tool_use_id)) continue;
      const param = `messages.${at}.content.${position}.tool_use_id`;
      throw new RouterError('invalid_request', `${param}: no \`tool_use\` block before it has this id`, { param });
    }
  }
}

/**
 * Checks the tools of a request. A client's tool needs a schema, and a choice can require only a tool of the request.
 * @throws RouterError `missing_parameter` or `invalid_request` that names the field
 */
function checkTools({ tools, tool_choice: choice }: MessagesRequest): void {
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

/**
 * Checks the data of images and documents with a base64 source.
 * @throws RouterError `invalid_request` that names the first invalid source
 */
function checkSources(messages: readonly MessagesMessage[]): void {
  for (const [at, { content }] of messages.entries()) checkBlocks(content, `messages.${at}.content`);
}

function checkBlocks(content: string | readonly MessagesBlock[] | null | undefined, path: string): void {
  if (typeof content === 'string') return;
  for (const [at, block] of (content ?? []).entries()) {
    if (block.type === 'tool_result') checkBlocks(block.content, `${path}.${at}.content`);
    if (block.type !== 'image' && block.type !== 'document') continue;
    const { source } = block;
    if (source.type !== 'base64' || isBase64(source.data)) continue;
    const param = `${path}.${at}.source.data`;
    throw new RouterError('invalid_request', `${param}: Input should be valid base64`, { param });
  }
}

/**
 * Whether a text is base64. Allows line breaks, which command-line tools add. Searches for invalid characters, because a pattern for the
 * whole text would overflow on data of many megabytes.
 */
function isBase64(data: string): boolean {
  const padding = data.indexOf('=');
  const end = padding === -1 ? data.length : padding;
  return end > 0 && /^={0,2}[\r\n]*$/.test(data.slice(end)) && !/[^A-Za-z0-9+/\r\n]/.test(data.slice(0, end));
}
