// @module-tag chromium
import { beforeAll, describe, expect, it } from 'vitest';
import { fillLedger } from '../../helpers/accounts/use-redis.ts';
import { ledgerRecord } from '../../helpers/accounts/ledger-record.ts';
import { waitUntilLoaded } from '../../helpers/console/console-page.ts';
import { ownConsole } from '../../helpers/console/console-with-ada.ts';
import { longestTask } from '../../helpers/console/longest-task.ts';
import { openAs, type KnownPerson } from '../../helpers/console/open-as.ts';
import { least } from '../../helpers/least.ts';

/** Requests in the ledger: `MANY_REQUESTS=1000000` was measured. */
const many = Number(process.env['MANY_REQUESTS'] ?? 20_000);

const weekMs = 7 * 86_400_000;

/** Milliseconds that a page may keep the browser's main thread without a pause, and that an answer may take. */
const [longestTaskMs, longestAnswerMs] = [200, 900];

describe(`a ledger with ${many} requests`, () => {
  const here = ownConsole();
  let bob: KnownPerson;

  beforeAll(async () => {
    bob = await here.invite('Bob');
    // Of 200 keys over a week; the first ones are one person's.
    const begin = Date.now() - weekMs;
    const records = Array.from({ length: many }, (_, index) => {
      const who = index < 100 ? bob.id : `u${index % 200}`;
      return ledgerRecord({
        id: `req_${index}`,
        at: begin + Math.floor((index / many) * weekMs),
        key: { id: `k-${who}`, name: `key of ${who}` },
        owner: { kind: 'user', id: who },
        model: `model-${index % 12}`,
        worker: `worker-${index % 60}`,
        firstTokenMs: 20 + (index % 400),
        totalMs: 300 + (index % 5_000),
        ...(index % 50 === 0 && { outcome: 'failed', code: 'worker_lost' }),
      });
    });
    await fillLedger(here.cluster.prefix, records);
  }, 900_000);

  it.each([
    ['the newest', '/usage/requests', 50],
    ['those that failed, of a key', '/usage/requests?outcome=failed&key=k-u50', 1],
    ['one by its id', '/usage/requests/req_200', 1],
    ['what the last hour came to', '/usage/overview?span=1h', undefined],
    ['what the last week came to', '/usage/overview?span=7d', undefined],
  ])('answers %s in well under a second', async (_, path, rows) => {
    const ms = await least(async () => {
      const begun = performance.now();
      const { status, body } = await here.ada.client.get(path);
      expect(status).toBe(200);
      if (rows !== undefined) expect((body.requests ?? body).length).toBeGreaterThanOrEqual(rows);
      return performance.now() - begun;
    }, longestAnswerMs);
    say(`${path}: ${ms.toFixed(0)} ms`);
    expect(ms).toBeLessThan(longestAnswerMs);
  });

  it('answers somebody whose requests are the oldest of all, page by page', async () => {
    let path = '/usage/requests';
    let found = 0;
    for (let pages = 0; pages < 200 && found === 0; pages += 1) {
      const begun = performance.now();
      const { body } = await bob.client.get(path);
      if (pages < 3) say(`a page: ${(performance.now() - begun).toFixed(0)} ms`);
      found = body.requests.length;
      if (body.next === undefined) break;
      path = `/usage/requests?before=${body.next}`;
    }
    expect(found).toBe(50);
  });

  it.each(['/requests', '/?span=7d', '/requests/req_200'])('keeps the main thread free: %s', async (path) => {
    const { page } = await openAs(here.ada);
    const show = async (): Promise<void> => {
      await page.goto(path);
      await waitUntilLoaded(page);
      await page.getByText('model-').first().waitFor();
      await page.waitForTimeout(1_500);
    };
    const ms = await least(() => longestTask(page, show), longestTaskMs);
    say(`${path}: longest task ${ms.toFixed(0)} ms`);
    expect(ms).toBeLessThan(longestTaskMs);
  });
});

/** Prints what was measured, where somebody measures. */
function say(words: string): void {
  if (process.env['MANY_REQUESTS']) process.stdout.write(`${words}\n`);
}
