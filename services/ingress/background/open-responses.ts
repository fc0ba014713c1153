import { BackgroundResponses } from '#shared/accounts/responses/background/background-responses.ts';
import { openBackground } from '#shared/serving/open/open-background.ts';
import { AnswerStorer } from '#shared/serving/stored/answer-storer.ts';
import type { AnswerStore } from '#shared/serving/stored/resolve-stored.ts';
import { withOutageRetry } from '#shared/serving/stored/with-outage-retry.ts';
import type { IngressContext } from '../context.ts';
import { FollowerPlaces } from '../http/follower-places.ts';
import { unreadMs } from '../http/unread/unread-outputs.ts';
import type { BackgroundParts } from './stream-background.ts';

/** Opens the stores of responses: those that are stored, and those that are made in the background. */
export function openResponses(context: IngressContext) {
  const { config, prefix, serving, storedOutages, jobs, closing, log } = context;
  const { store, storedRedis, storedResponses } = serving;
  const { store: backgroundStore, changes } = openBackground(context);
  const places = new FollowerPlaces();
  const responses = withOutageRetry(storedResponses, storedOutages);
  const answers: AnswerStore = {
    responses,
    storesAnswers: config.RESPONSES_KEEP_HOURS > 0,
    assertIntact: () => store.assertIntact(),
  };
  const background: BackgroundParts = {
    responses: new BackgroundResponses(storedRedis.redis, prefix, backgroundStore),
    changes,
    places,
    jobs,
    keepAliveMs: config.KEEP_ALIVE_MS,
    unreadMs,
    closing: closing.signal,
  };
  return { answers, storer: new AnswerStorer(responses, log), background, changes, places };
}
