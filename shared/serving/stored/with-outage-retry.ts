import type { ShortOutages } from '#shared/store/redis/short-outages.ts';
import type { AnswerStore } from './resolve-stored.ts';

/** Wraps stored answers. Reading and storing then wait for the end of a short Redis outage. */
export function withOutageRetry(responses: AnswerStore['responses'], outages: ShortOutages): AnswerStore['responses'] {
  return {
    store: (...args) => outages.retry(() => responses.store(...args)),
    find: (...args) => outages.retry(() => responses.find(...args)),
    readHistory: (...args) => outages.retry(() => responses.readHistory(...args)),
    readItems: (...args) => outages.retry(() => responses.readItems(...args)),
    // A repetition would find nothing to delete if the first call has succeeded.
    delete: (...args) => responses.delete(...args),
  };
}
