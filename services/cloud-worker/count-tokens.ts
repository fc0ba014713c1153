import { z } from 'zod';
import type { JsonObject } from '#shared/core/json.ts';
import { dialects } from '#shared/translate/upstreams/upstream-formats.ts';
import { fit, type UpstreamHttp, type UpstreamRequest } from '#shared/upstream/upstream-http.ts';

const path = '/messages/count_tokens';
const counted = z.looseObject({ input_tokens: z.number().int().nonnegative() });

/** Milliseconds for a provider to count. */
const timeoutMs = 30_000;

/**
 * Tokens of a messages request's input, as the upstream counts them; undefined when it has no page for that.
 * @throws RouterError for a request that the upstream refuses
 */
export async function countTokens(
  http: Pick<UpstreamHttp, 'post'>,
  request: JsonObject,
  headers: UpstreamRequest['headers'],
  signal: AbortSignal,
): Promise<number | undefined> {
  const bound = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const answer = await http.post(path, JSON.stringify(request), bound, headers);
  if (answer.status === 200) return fit(path, answer, counted).input_tokens;
  if (answer.status === 404 || answer.status === 405 || answer.status === 501) return undefined;
  throw dialects.messages.error(answer.status, JSON.stringify(answer.body ?? null), answer.headers);
}
