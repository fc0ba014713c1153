import { LRUCache } from 'lru-cache';
import { errorTable } from '#shared/core/errors.ts';
import { getSafeMessage } from './safe-message.ts';
import type { RefusalSample, SampleStream } from './refusal-sample.ts';
import type { Refusal } from './refusal.ts';

/** Minimum milliseconds between two samples of the same key and code. */
const sampleEveryMs = 60_000;

/** Maximum of pairs of key and code that are remembered as sampled. */
const maxRemembered = 2_000;

/** Maximum of samples that wait to be written. */
const maxWaiting = 50;

/** The form of the names of models and tools that are stored. It allows no spaces, so that no sentence of a prompt is stored. */
const namePattern = /^[\w.:/@+-]{1,200}$/;

/** Takes samples of refusals, at most one a minute for each key and code. */
export class RefusalSampler {
  readonly #taken = new LRUCache<string, true>({ max: maxRemembered, ttl: sampleEveryMs });
  #waiting: { stream: SampleStream; sample: RefusalSample }[] = [];

  add({ requestId, error, key, asked }: Refusal, at: number): void {
    const { code } = error;
    const keyAndCode = `${code} ${key?.id ?? ''}`;
    if (this.#waiting.length >= maxWaiting || this.#taken.has(keyAndCode)) return;
    this.#taken.set(keyAndCode, true);
    const message = getSafeMessage(error);
    const { kind, ownerId } = key ?? {};
    this.#waiting.push({
      stream: key ? 'samples-of-keys' : 'samples-of-nobody',
      sample: {
        at,
        id: requestId,
        code,
        status: errorTable[code].status,
        ...(key && { key: key.id }),
        ...(ownerId !== undefined && kind !== undefined && kind !== 'router' && { owner: { kind, id: ownerId } }),
        ...(asked !== undefined && namePattern.test(asked) && { model: asked }),
        ...(message !== undefined && { message }),
      },
    });
  }

  /** Removes the waiting samples, and returns them. */
  take(): { stream: SampleStream; sample: RefusalSample }[] {
    const samples = this.#waiting;
    this.#waiting = [];
    return samples;
  }
}
