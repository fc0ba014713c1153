import type { ShortOutages } from '#shared/accounts/redis/short-outages.ts';
import type { AnswerStore } from './resolve-stored.ts';

/** Wraps stored answers so that reading and storing wait for the end of a short Redis outage. */
export function patientAnswers(responses: AnswerStore['responses'], outages: ShortOutages): AnswerStore['responses'] {
  return {
    keep: (...asked) => outages.through(() => responses.keep(...asked)),
    find: (...asked) => outages.through(() => responses.find(...asked)),
    history: (...asked) => outages.through(() => responses.history(...asked)),
    items: (...asked) => outages.through(() => responses.items(...asked)),
    // Not repeated: a repetition would find nothing to remove.
    remove: (...asked) => responses.remove(...asked),
  };
}
