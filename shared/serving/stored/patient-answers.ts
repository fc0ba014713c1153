import type { ShortOutages } from '#shared/accounts/redis/short-outages.ts';
import type { AnswerStore } from './resolve-stored.ts';

/** The same stored answers; reading and storing go on after a short outage of Redis. */
export function patientAnswers(responses: AnswerStore['responses'], outages: ShortOutages): AnswerStore['responses'] {
  return {
    keep: (...asked) => outages.through(() => responses.keep(...asked)),
    find: (...asked) => outages.through(() => responses.find(...asked)),
    history: (...asked) => outages.through(() => responses.history(...asked)),
    items: (...asked) => outages.through(() => responses.items(...asked)),
    // Repeated, it would find nothing to remove.
    remove: (...asked) => responses.remove(...asked),
  };
}
