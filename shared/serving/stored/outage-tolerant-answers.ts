import type { ShortOutages } from '#shared/accounts/redis/short-outages.ts';
import type { AnswerStore } from './resolve-stored.ts';

/** Wraps stored answers so that reading and storing wait for the end of a short Redis outage. */
export function withOutageRetry(responses: AnswerStore['responses'], outages: ShortOutages): AnswerStore['responses'] {
  return {
    store: (...asked) => outages.retry(() => responses.store(...asked)),
    find: (...asked) => outages.retry(() => responses.find(...asked)),
    history: (...asked) => outages.retry(() => responses.history(...asked)),
    items: (...asked) => outages.retry(() => responses.items(...asked)),
    // This call is not repeated, because a repetition would find nothing to delete.
    delete: (...asked) => responses.delete(...asked),
  };
}
