import { z } from 'zod';
import type { JsonObject } from '#shared/core/json.ts';
import { countWithTokenizer } from '#shared/upstream/count-with-tokenizer.ts';
import { dialects } from '#shared/upstream/dialects.ts';
import { fit, type UpstreamHttp, type UpstreamRequest } from '#shared/upstream/upstream-http.ts';
import type { Provider } from './providers/provider.ts';

const path = '/messages/count_tokens';
const counted = z.looseObject({ input_tokens: z.number().int().nonnegative() });

/** Milliseconds for a provider to count. */
const timeoutMs = 30_000;

export interface CountOptions {
  http: Pick<UpstreamHttp, 'post'>;
  provider: Pick<Provider, 'family'>;
  /** The request as the provider would get it. */
  request: JsonObject;
  headers: UpstreamRequest['headers'];
  /** The same request in the chat family, which the tokenizer reads. */
  inChat: () => JsonObject;
  signal: AbortSignal;
}

/**
 * Tokens of a request's input: counted by an upstream of the messages family, by a tokenizer of ours where the upstream
 * cannot. Never 0.
 * @throws RouterError for a request that the upstream refuses
 */
export async function countTokens(options: CountOptions): Promise<number> {
  const { provider, inChat } = options;
  const tokens = provider.family === 'messages' ? await askProvider(options) : undefined;
  return Math.max(1, tokens ?? (await countWithTokenizer(inChat())));
}

/** Undefined when it has no such page. */
async function askProvider({ http, request, headers, signal }: CountOptions): Promise<number | undefined> {
  const bound = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const answer = await http.post(path, JSON.stringify(request), bound, headers);
  if (answer.status === 200) return fit(path, answer, counted).input_tokens;
  if (answer.status === 404 || answer.status === 405 || answer.status === 501) return undefined;
  throw dialects.messages.error(answer.status, JSON.stringify(answer.body ?? null), answer.headers);
}
