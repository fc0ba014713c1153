import { request } from 'undici';
import { guardedAgent, requireHttp, type AddressGuard } from './guarded-agent.ts';
import { PublicFetchError } from './public-fetch-error.ts';

/** Maximum bytes that are read of an answer, of which only the status counts. */
const answerBytes = 16 * 1024;

export interface PublicPostOptions extends AddressGuard {
  /** Time limit from the first connection to the answer, in milliseconds. */
  timeoutMs: number;
}

/**
 * Posts a text to a URL.
 * @returns the status of the answer; redirects are not followed, so it may be that of a redirect
 */
export type PublicPost = (
  url: URL,
  message: { headers: Record<string, string>; body: string },
  signal: AbortSignal,
) => Promise<number>;

/**
 * Creates a function that posts to allowed addresses only, see `guardedAgent`. It rejects with a PublicFetchError, or with the signal's
 * reason.
 */
export function createPublicPost({ timeoutMs, ...guard }: PublicPostOptions): PublicPost {
  return async function publicPost(url, { headers, body }, signal) {
    const { agent, requireAllowed } = guardedAgent(guard);
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      requireHttp(url);
      requireAllowed(url);
      const answer = await request(url, {
        dispatcher: agent,
        method: 'POST',
        headers: { 'accept-encoding': 'identity', ...headers },
        body,
        signal: inTime,
      });
      // The body is read so that the other side can end the exchange in good order. If that fails, the message still has its status.
      await answer.body.dump({ limit: answerBytes, signal: inTime }).catch(() => undefined);
      return answer.statusCode;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (inTime.aborted) throw new PublicFetchError('it took too long', { cause: error });
      if (error instanceof PublicFetchError) throw error;
      throw new PublicFetchError('its server could not be reached', { cause: error });
    } finally {
      await agent.destroy();
    }
  };
}
