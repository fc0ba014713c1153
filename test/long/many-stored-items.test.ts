import { randomBytes } from 'node:crypto';
import { expect, inject, it } from 'vitest';
import { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import { StoredResponses } from '#shared/accounts/responses/stored/stored-responses.ts';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';

const roomy = { keepMs: 60_000, ownerBytes: 100_000_000, totalBytes: 100_000_000, historyBytes: 100_000_000 };

/** More than Lua can return as separate values. */
const responses = 9_000;

it('finds items of 9,000 stored responses at once', async () => {
  const { connection, prefix } = await openKeyStore(inject('redisUrl'));
  const secrets = [randomBytes(32)];
  const parts = { bounds: roomy, keys: new OwnerKeys(() => secrets), report: () => undefined };
  const store = new StoredResponses(connection.redis, prefix, parts);
  const numbers = Array.from({ length: responses }, (_, at) => at);
  for (let from = 0; from < responses; from += 300) {
    const kept = numbers.slice(from, from + 300).map((at) => {
      const id = `resp_${at}`;
      return store.store('ada', { id, response: { id, output: [] }, input: [{ id: `msg_${at}`, at }] });
    });
    await Promise.all(kept);
  }
  const names = numbers.map((at) => `msg_${at}`);
  const items = await store.readItems('ada', names, () => undefined);
  if (typeof items !== 'object' || !('found' in items)) throw new Error('no items are found');
  expect(items.found.get('msg_8999')).toEqual({ id: 'msg_8999', at: 8999 });
  expect(items.found.size).toBe(responses);
});
