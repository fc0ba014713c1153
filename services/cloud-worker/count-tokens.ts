import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import type { UpstreamHttp, UpstreamRequest } from '#shared/upstream/upstream-http.ts';

/** Milliseconds after which a request for a count is ended. */
const timeoutMs = 30_000;

/**
 * Lets the upstream count the input tokens of a request. Returns undefined if the upstream has no path that counts tokens.
 * @throws RouterError for a request that the upstream refuses
 */
export async function countTokens(
  http: Pick<UpstreamHttp, 'post'>,
  format: HttpUpstreamFormat,
  request: JsonObject,
  headers: UpstreamRequest['headers'],
  signal: AbortSignal,
): Promise<number | undefined> {
  if (!format.count) return undefined;
  const abortOrTimeout = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const answer = await http.post(
    format.count.path,
    JSON.stringify(format.count.request?.(request) ?? request),
    abortOrTimeout,
    headers,
  );
  if (answer.status === 200) {
    const count = format.count.read(answer.body);
    if (count === undefined) throw new RouterError('upstream_failed', 'The upstream gave an unknown answer.');
    return count;
  }
  if (answer.status === 404 || answer.status === 405 || answer.status === 501) return undefined;
  throw format.readError(answer.status, JSON.stringify(answer.body ?? null), answer.headers);
}
