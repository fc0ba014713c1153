import { LRUCache } from 'lru-cache';
import { errorTable } from '#shared/core/errors.ts';
import { safeMessage } from './safe-message.ts';
import type { RefusalSample, SampleStream } from './refusal-sample.ts';
import type { Refusal } from './refusal.ts';

/** Milliseconds after a sample was taken until another sample of the same key and code may be taken. */
const sampleEveryMs = 60_000;

/** Maximum of pairs of key and code whose last sample is in memory. */
const maxRemembered = 2_000;

const maxWaiting = 50;

/** The form that the name of a model or a tool must have to be stored. It has no spaces, so that no sentence of a prompt is stored. */
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
    const message = safeMessage(error);
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

  /** Returns the waiting samples, and removes them. */
  take(): { stream: SampleStream; sample: RefusalSample }[] {
    const samples = this.#waiting;
    this.#waiting = [];
    return samples;
  }
}
