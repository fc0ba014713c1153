import { request } from 'undici';
import { createGuardedAgent, requireHttp, type AddressGuard, PublicFetchError } from './guarded-agent.ts';

/** Maximum bytes to read of an answer. Only the status of the answer is used. */
const maxAnswerBytes = 16 * 1024;

export interface PublicPostOptions extends AddressGuard {
  /** Time limit from the first connection to the answer, in milliseconds. */
  timeoutMs: number;
}

/**
 * Posts a text to a URL.
 * @returns the status of the answer. Redirects are not followed, so this may be the status of a redirect
 */
export type PublicPost = (
  url: URL,
  message: { headers: Record<string, string>; body: string },
  signal: AbortSignal,
) => Promise<number>;

/**
 * Creates a function that posts to allowed addresses only, see `createGuardedAgent`. The function rejects with a PublicFetchError, or with
 * the signal's reason.
 */
export function createPublicPost({ timeoutMs, ...guard }: PublicPostOptions): PublicPost {
  return async function publicPost(url, { headers, body }, signal) {
    const { agent, requireAllowed } = createGuardedAgent(guard);
    const abortOrTimeout = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      requireHttp(url);
      requireAllowed(url);
      const answer = await request(url, {
        dispatcher: agent,
        method: 'POST',
        headers: { 'accept-encoding': 'identity', ...headers },
        body,
        signal: abortOrTimeout,
      });
      // The body is read so that the other side can end the exchange in good order. If reading fails, the status is known anyway.
      await answer.body.dump({ limit: maxAnswerBytes, signal: abortOrTimeout }).catch(() => undefined);
      return answer.statusCode;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (abortOrTimeout.aborted) throw new PublicFetchError('it took too long', { cause: error });
      if (error instanceof PublicFetchError) throw error;
      throw new PublicFetchError('its server could not be reached', { cause: error });
    } finally {
      await agent.destroy();
    }
  };
}
