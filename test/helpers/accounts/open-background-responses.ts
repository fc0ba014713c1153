import type { NewBackgroundRecord } from '#shared/accounts/responses/background/background-record.ts';
import { BackgroundResponses } from '#shared/accounts/responses/background/background-responses.ts';
import type { BackgroundBounds } from '#shared/accounts/responses/background/background-settings.ts';
import { ResponseWork } from '#shared/accounts/responses/background/response-work.ts';
import { made } from './made.ts';
import { openTestWebhooks } from '../webhooks/open-test-webhooks.ts';

const hourMs = 3_600_000;
const megabyte = 1024 * 1024;

/**
 * Opens background responses under a prefix of their own, for both sides.
 * @param change bounds other than ten unfinished responses per owner, an hour and a megabyte
 */
export async function openBackgroundResponses(change: Partial<BackgroundBounds> = {}) {
  const webhooks = await openTestWebhooks();
  const { redis, prefix, keys, noteUnreadable: report } = webhooks;
  const times = { openMs: hourMs, keepMs: hourMs };
  const bounds = {
    maxOpen: 10,
    ...times,
    answerBytes: 16 * megabyte,
    ownerBytes: megabyte,
    totalBytes: megabyte,
    ...change,
  };
  const parts = { bounds, keys, report };
  const responses = new BackgroundResponses(redis, prefix, parts);
  const work = new ResponseWork(redis, prefix, parts);
  const opening = { events: 'begun;', last: 2 };
  return {
    redis,
    prefix,
    keys,
    report,
    webhooks,
    responses,
    work,
    /** The events that report the beginning of a run. */
    opening,
    /**
     * Stores a waiting response, of `ada` unless another owner is given.
     * @returns the number of its owner's unfinished responses
     */
    create: (id: string, { body = 'hello', ...fields }: Partial<NewBackgroundRecord> & { body?: string } = {}) => {
      const createdAt = Date.now();
      const facts = { id, owner: 'ada', key: 'k1', format: 'responses', requestId: `req-${id}` };
      const record = { ...facts, createdAt, expiresAt: createdAt + hourMs, ...fields };
      const queued = { id, status: 'queued' };
      return responses.create(record, { request: { body }, queued, events: 'created;queued;', last: 1 });
    },
    /** Begins a run of a response. */
    begin: async (id: string) => {
      const record = made(await work.find(id));
      return { record, ...made(await work.beginRun(record, opening)) };
    },
  };
}
