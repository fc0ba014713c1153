import { request } from 'undici';
import { createGuardedAgent, requireHttp, type AddressGuard, PublicFetchError } from './guarded-agent.ts';

/** Statuses of answers without a body (Fetch, "null body status"). `Response` throws if it gets a body with one of these statuses. */
const bodylessStatuses = new Set([204, 205, 304]);

export interface GuardedFetchOptions extends AddressGuard {
  /** Time limit from the first connection to the end of the answer, in milliseconds. */
  timeoutMs: number;
  maxBytes: number;
}

/** A `fetch` for libraries that accept one. It follows no redirects, so the library gets the redirect as the answer. */
export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Creates a `fetch` for short exchanges with allowed addresses only, see `createGuardedAgent`. Request bodies must be texts or
 * `URLSearchParams`. The `fetch` rejects with a PublicFetchError, or with the reason of the request's signal.
 */
export function createGuardedFetch({ timeoutMs, maxBytes, ...guard }: GuardedFetchOptions): GuardedFetch {
  return async function guardedFetch(input, { method = 'GET', headers, body, signal } = {}) {
    const url = new URL(input);
    const { agent, requireAllowed } = createGuardedAgent(guard);
    const abortOrTimeout = AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(timeoutMs)]);
    try {
      requireHttp(url);
      requireAllowed(url);
      const answer = await request(url, {
        dispatcher: agent,
        method: method as 'GET' | 'POST',
        headers: { ...Object.fromEntries(new Headers(headers)), 'accept-encoding': 'identity' },
        body: body === undefined || body === null ? null : toText(body),
        signal: abortOrTimeout,
      });
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of answer.body as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > maxBytes) throw new PublicFetchError('its answer is too large');
        chunks.push(chunk);
      }
      const responseHeaders = new Headers();
      for (const [name, values] of Object.entries(answer.headers))
        for (const value of [values ?? []].flat()) responseHeaders.append(name, value);
      const { statusCode: status } = answer;
      return new Response(bodylessStatuses.has(status) ? null : Buffer.concat(chunks), {
        status,
        headers: responseHeaders,
      });
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (abortOrTimeout.aborted) throw new PublicFetchError('it took too long', { cause: error });
      if (error instanceof PublicFetchError) throw error;
      throw new PublicFetchError('its server could not be reached', { cause: error });
    } finally {
      await agent.destroy();
    }
  };
}

function toText(body: NonNullable<RequestInit['body']>): string {
  if (typeof body === 'string' || body instanceof URLSearchParams) return String(body);
  throw new TypeError('the request body must be a string or URLSearchParams');
}
