import type { IncomingMessage, ServerResponse } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import type { Engine } from './engine.ts';
import { sendJson } from './reply/send-json.ts';
import { tokenizeRequestSchema } from './request/chat-request.ts';
import { countPromptTokens } from './request/count-prompt-tokens.ts';
import { countTokens } from '#shared/upstream/o200k-tokens.ts';
import { parseBody, readJsonBody } from './request/read-body.ts';

/**
 * Handles `POST /tokenize` in vLLM's form. `count` equals `prompt_tokens` of the answer to the same chat. `tokens` is always empty, because
 * images and the marks of messages have no ids here, and a list shorter than `count` would mislead.
 */
export async function handleTokenize(
  engine: Engine,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const { prompt, messages, tools } = parseBody(tokenizeRequestSchema, await readJsonBody(request));
  if (typeof prompt !== 'string' && !messages) {
    throw new RouterError('missing_parameter', 'Either messages or prompt is required.', { param: 'messages' });
  }
  const count = messages ? await countPromptTokens(messages, tools, signal) : await countTokens(prompt ?? '', signal);
  sendJson(response, 200, { count, max_model_len: engine.contextWindow, tokens: [] });
}
