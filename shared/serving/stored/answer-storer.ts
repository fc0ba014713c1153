import { setTimeout as pause } from 'node:timers/promises';
import type { StoredResponse, StoredResponses } from '#shared/accounts/responses/stored/stored-responses.ts';
import type { Logger } from '#shared/core/log.ts';
import type { StorableAnswer, StoredAnswers } from '#shared/formats/stored-answers.ts';
import type { AnswerToStore } from './resolve-stored.ts';
import { StoreQueueBudget } from './store-queue-budget.ts';

/** Maximum milliseconds for which the end of an answer is held back until the answer is stored. */
const maxWaitMs = 1_000;

export type StoreOutcome = 'stored' | 'too_large' | 'failed';

const defaultMaxBytes = 32 * 1024 * 1024;

export interface FinishedAnswer extends StorableAnswer {
  requestId: string;
  owner: string;
  format: StoredAnswers;
  toStore: AnswerToStore;
}

/** Stores complete answers. Counts and logs answers that cannot be stored. Such answers reach the client unchanged. */
export class AnswerStorer {
  readonly #responses: Pick<StoredResponses, 'store'>;
  readonly #log: Pick<Logger, 'warn'>;
  readonly queueBudget: StoreQueueBudget;
  readonly counts: Record<StoreOutcome, number> = { stored: 0, too_large: 0, failed: 0 };

  /** @param maxBytes maximum bytes of all answers that wait to be stored */
  constructor(responses: Pick<StoredResponses, 'store'>, log: Pick<Logger, 'warn'>, maxBytes = defaultMaxBytes) {
    this.#responses = responses;
    this.#log = log;
    this.queueBudget = new StoreQueueBudget(maxBytes);
  }

  /** Stores an answer. Resolves when the answer is stored or cannot be stored, at the latest after a second. Never rejects. */
  async store(finished: FinishedAnswer): Promise<void> {
    await Promise.race([this.#store(finished), pause(maxWaitMs, undefined, { ref: false })]);
  }

  /** Counts an answer that is not stored because too many other answers wait to be stored. */
  countNoRoom(requestId: string): void {
    this.counts.failed += 1;
    this.#log.warn({ requestId }, 'a response could not be stored: too many responses wait to be stored');
  }

  countTooLarge(requestId: string): void {
    this.counts.too_large += 1;
    this.#log.warn({ requestId }, 'a response is too large to be stored');
  }

  async #store({ requestId, owner, format, answer, text, toStore }: FinishedAnswer): Promise<void> {
    const { id } = answer;
    if (typeof id !== 'string') return;
    const share = this.queueBudget.openShare(owner);
    if (!share.take(text.length)) return this.countNoRoom(requestId);
    const { input, previous } = toStore;
    const response = format.toStoredAnswer(answer, previous);
    const storedResponse: StoredResponse = { id, response, input: format.toStoredInput(input), previous };
    try {
      const outcome = await this.#responses.store(owner, storedResponse, response === answer ? text : undefined);
      if (outcome === 'kept') this.counts.stored += 1;
      else if (outcome === 'too large') this.countTooLarge(requestId);
    } catch (error) {
      this.counts.failed += 1;
      this.#log.warn({ requestId, err: error }, 'a response could not be stored');
    } finally {
      share.release(text.length);
    }
  }
}
