import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { RouterError } from '#shared/core/errors.ts';
import type { Overflow } from '#shared/formats/context-overflow.ts';
import { parseUpstreamJson } from '../parse-upstream-json.ts';
import { readOverflowText } from '../overflow-texts.ts';
import { readRetryDelay, readRetryAfter, upstreamError } from '../upstream-error.ts';

/**
 * Returns the router's error for a chat upstream's error answer. Reads `{error: {message, …}}` (most upstreams), `{error: "…"}` and
 * `{message}` (older vLLM, Ollama, proxies), a list of one of these (Gemini), and bodies that are not JSON.
 * @param body the answer's body as text
 */
export function readChatError(
  status: number,
  body: string,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): RouterError {
  const parsed = parseUpstreamJson(body);
  const error = readErrorField(Array.isArray(parsed) ? parsed[0] : parsed);
  return upstreamError({
    status: isOutOfMoney(error) ? 402 : status,
    message: readMessage(error),
    param: readParam(error),
    code: error['code'],
    retryAfter: readRetryAfter(headers) ?? readRetryDelay(error),
    overflow: readOverflow(error),
  });
}

/**
 * Returns the router's error for an error event that a chat upstream sends under status 200; undefined for any other event. vLLM puts the
 * intended status in `code`.
 */
export function readChatEventError(event: JsonObject): RouterError | undefined {
  if (event['error'] === undefined || event['error'] === null) return undefined;
  const error = readErrorField(event);
  const code = error['code'];
  const status = typeof code === 'number' && code >= 400 && code <= 599 ? code : 500;
  const [message, param, overflow] = [readMessage(error), readParam(error), readOverflow(error)];
  return upstreamError({ status, message, param, code, retryAfter: readRetryDelay(error), overflow });
}

function readErrorField(body: Json | undefined): JsonObject {
  if (!isJsonObject(body)) return {};
  const { error } = body;
  if (isJsonObject(error)) return error;
  return typeof error === 'string' ? { message: error } : body;
}

function readMessage(error: JsonObject): string {
  const { message, detail } = error;
  return typeof message === 'string' ? message : typeof detail === 'string' ? detail : '';
}

/** Returns the path of the invalid field. A longer text is not a path. */
function readParam({ param }: JsonObject): string | undefined {
  return typeof param === 'string' && param !== '' && param.length <= 200 ? param : undefined;
}

/**
 * Whether the account has no credit left. OpenAI reports this with status 429, which wrongly suggests that waiting helps. Others use status
 * 402.
 */
function isOutOfMoney({ code, type }: JsonObject): boolean {
  return code === 'insufficient_quota' || type === 'insufficient_quota';
}

function readOverflow(error: JsonObject): Overflow | undefined {
  if (error['type'] === 'exceed_context_size_error') {
    return { input: toCount(error['n_prompt_tokens']), maximum: toCount(error['n_ctx']) };
  }
  if (error['code'] !== 'context_length_exceeded') return undefined;
  return readOverflowText(readMessage(error)) ?? {};
}

function toCount(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
}
