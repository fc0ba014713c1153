import { setTimeout as pause } from 'node:timers/promises';
import type { StoredResponse, StoredResponses } from '#shared/accounts/stored-responses/stored-responses.ts';
import type { Logger } from '#shared/core/log.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { StoredAnswers } from '#shared/formats/stored-answers.ts';
import type { ToStore } from './resolve-stored.ts';

/** Milliseconds that the end of an answer waits at most until it is stored. */
const longestMs = 1_000;

/** What became of an answer that was to be stored. */
export type StoreOutcome = 'stored' | 'too_large' | 'failed';

/** An answer that is complete. */
export interface FinishedAnswer {
  requestId: string;
  owner: string;
  format: StoredAnswers;
  answer: JsonObject;
  toStore: ToStore;
}

/** Stores complete answers. What cannot be stored, or not in time, is counted and logged; the answer itself is not affected. */
export class AnswerStorer {
  readonly #responses: Pick<StoredResponses, 'keep'>;
  readonly #log: Pick<Logger, 'warn'>;
  readonly counts: Record<StoreOutcome, number> = { stored: 0, too_large: 0, failed: 0 };

  constructor(responses: Pick<StoredResponses, 'keep'>, log: Pick<Logger, 'warn'>) {
    this.#responses = responses;
    this.#log = log;
  }

  /** Returns when it is stored, or will not be, and after a second at most. Never rejects. */
  async store(finished: FinishedAnswer): Promise<void> {
    await Promise.race([this.#store(finished), pause(longestMs, undefined, { ref: false })]);
  }

  /** Counts an answer that is too large to be stored. */
  countTooLarge(requestId: string): void {
    this.counts.too_large += 1;
    this.#log.warn({ requestId }, 'a response is too large to be stored');
  }

  async #store({ requestId, owner, format, answer, toStore }: FinishedAnswer): Promise<void> {
    const { id } = answer;
    if (typeof id !== 'string') return;
    const { input, previous } = toStore;
    const response = format.storedForm(answer, previous);
    const stored: StoredResponse = { id, response, input: format.storedInput(input), previous };
    try {
      const outcome = await this.#responses.keep(owner, stored);
      if (outcome === 'kept') this.counts.stored += 1;
      else if (outcome === 'too large') this.countTooLarge(requestId);
    } catch (error) {
      this.counts.failed += 1;
      this.#log.warn({ requestId, err: error }, 'a response could not be stored');
    }
  }
}
