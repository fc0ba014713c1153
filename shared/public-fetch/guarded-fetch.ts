import { request } from 'undici';
import { guardedAgent, requireHttp, type AddressGuard } from './guarded-agent.ts';
import { PublicFetchError } from './public-fetch-error.ts';

/** Statuses of answers without a body (Fetch, "null body status"). `Response` throws if it gets a body with one of them. */
const withoutBody = new Set([204, 205, 304]);

export interface GuardedFetchOptions extends AddressGuard {
  /** Time limit from the first connection to the end of the answer, in milliseconds. */
  timeoutMs: number;
  maxBytes: number;
}

/** A `fetch` for libraries that accept one. It follows no redirect, so the library gets the redirect as the answer. */
export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Creates a `fetch` for short exchanges with allowed addresses only, see `guardedAgent`. Request bodies must be texts or `URLSearchParams`.
 * It rejects with a PublicFetchError, or with the reason of the request's signal.
 */
export function createGuardedFetch({ timeoutMs, maxBytes, ...guard }: GuardedFetchOptions): GuardedFetch {
  return async function guardedFetch(input, { method = 'GET', headers, body, signal } = {}) {
    const url = new URL(input);
    const { agent, requireAllowed } = guardedAgent(guard);
    const inTime = AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(timeoutMs)]);
    try {
      requireHttp(url);
      requireAllowed(url);
      const answer = await request(url, {
        dispatcher: agent,
        method: method as 'GET' | 'POST',
        headers: { ...Object.fromEntries(new Headers(headers)), 'accept-encoding': 'identity' },
        body: body === undefined || body === null ? null : textOf(body),
        signal: inTime,
      });
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of answer.body as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > maxBytes) throw new PublicFetchError('its answer is too large');
        chunks.push(chunk);
      }
      const answered = new Headers();
      for (const [name, values] of Object.entries(answer.headers))
        for (const value of [values ?? []].flat()) answered.append(name, value);
      const { statusCode: status } = answer;
      return new Response(withoutBody.has(status) ? null : Buffer.concat(chunks), { status, headers: answered });
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (inTime.aborted) throw new PublicFetchError('it took too long', { cause: error });
      if (error instanceof PublicFetchError) throw error;
      throw new PublicFetchError('its server could not be reached', { cause: error });
    } finally {
      await agent.destroy();
    }
  };
}

function textOf(body: NonNullable<RequestInit['body']>): string {
  if (typeof body === 'string' || body instanceof URLSearchParams) return String(body);
  throw new TypeError('only texts are sent');
}
