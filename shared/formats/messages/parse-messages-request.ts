import type { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject } from '#shared/core/json.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';
import { checkSources } from './check-sources.ts';
import { checkTools } from './check-tools.ts';
import { createProblemError } from './problem-error.ts';
import type { MessagesRequest, MessagesMessage } from './request.ts';
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
