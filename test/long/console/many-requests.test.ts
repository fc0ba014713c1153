import { randomBytes } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import { connectRedis } from '#shared/accounts/redis/connect-redis.ts';
import { createLog } from '#shared/core/log.ts';
import { ledgerRecord } from '../../helpers/accounts/ledger-record.ts';
import { ConsoleClient } from '../../helpers/console/console-client.ts';
import { waitUntilLoaded } from '../../helpers/console/console-page.ts';
import { longestTask } from '../../helpers/console/longest-task.ts';
import { least } from '../../helpers/least.ts';
import { inviteToConsole, joinConsole, openAs } from '../../helpers/console/open-as.ts';
import { chromiumPath, openBrowser } from '../../helpers/console/open-browser.ts';
import { startConsole, type ConsoleCluster } from '../../helpers/console/start-console.ts';

/** Requests in the ledger: `MANY_REQUESTS=1000000` was measured. */
const many = Number(process.env['MANY_REQUESTS'] ?? 20_000);

const weekMs = 7 * 86_400_000;

/** Milliseconds that a page may keep the browser's main thread without a pause, and that an answer may take. */
const [longestTaskMs, longestAnswerMs] = [200, 900];

describe.skipIf(chromiumPath === undefined)(`a ledger with ${many} requests`, () => {
  let cluster: ConsoleCluster;
  let browser: Browser;
  let ada: ConsoleClient;
  let bob: ConsoleClient;

  beforeAll(async () => {
    const prefix = `t${randomBytes(6).toString('hex')}`;
    [cluster, browser] = await Promise.all([startConsole({ prefix }), openBrowser()]);
    const admin = await joinConsole(new ConsoleClient(cluster.url), cluster.firstLink, 'Ada');
    ada = admin.client;
    const member = await inviteToConsole(admin, 'Bob');
    bob = member.client;
    await fill(prefix, member.id);
  }, 900_000);

  afterAll(async () => {
    await browser?.close();
    await cluster?.stop();
  });

  /** Requests of 200 keys over a week, as nodes write them; the first ones are one person's. */
  async function fill(prefix: string, firstOwner: string): Promise<void> {
    const log = createLog({ service: 'test', level: 'silent', format: 'json' });
    const connection = connectRedis(inject('redisUrl'), { log, name: 'test' });
    await connection.whenReady(AbortSignal.timeout(5_000));
    const begin = Date.now() - weekMs;
    for (let from = 0; from < many; from += 5_000) {
      const bounds = { maxRequests: 2_000_000, requestsKeptMs: 4 * weekMs };
      const ledger = new UsageLedger(connection.redis, `${prefix}:`, log, bounds);
      for (let index = from; index < Math.min(many, from + 5_000); index += 1) {
        const who = index < 100 ? firstOwner : `u${index % 200}`;
        ledger.add(
          ledgerRecord({
            id: `req_${index}`,
            at: begin + Math.floor((index / many) * weekMs),
            key: { id: `k-${who}`, name: `key of ${who}` },
            owner: { kind: 'user', id: who },
            model: `model-${index % 12}`,
            worker: `worker-${index % 60}`,
            firstTokenMs: 20 + (index % 400),
            totalMs: 300 + (index % 5_000),
            ...(index % 50 === 0 && { outcome: 'failed', code: 'worker_lost' }),
          }),
        );
      }
      await ledger.close();
    }
    connection.close();
  }

  it.each([
    ['the newest', '/usage/requests', 50],
    ['those that failed, of a key', '/usage/requests?outcome=failed&key=k-u50', 1],
    ['one by its id', '/usage/requests/req_200', 1],
    ['what the last hour came to', '/usage/overview?span=1h', undefined],
    ['what the last week came to', '/usage/overview?span=7d', undefined],
  ])('answers %s in well under a second', async (_, path, rows) => {
    const ms = await least(async () => {
      const begun = performance.now();
      const { status, body } = await ada.get(path);
      expect(status).toBe(200);
      if (rows !== undefined) expect((body.requests ?? body).length).toBeGreaterThanOrEqual(rows);
      return performance.now() - begun;
    }, longestAnswerMs);
    say(`${path}: ${ms.toFixed(0)} ms`);
    expect(ms).toBeLessThan(longestAnswerMs);
  });

  it('answers somebody whose requests are the oldest of all, in pages that each take well under a second', async () => {
    let path = '/usage/requests';
    let found = 0;
    for (let pages = 0; pages < 200 && found === 0; pages += 1) {
      const begun = performance.now();
      const { body } = await bob.get(path);
      if (pages < 3) say(`a page: ${(performance.now() - begun).toFixed(0)} ms`);
      found = body.requests.length;
      if (body.next === undefined) break;
      path = `/usage/requests?before=${body.next}`;
    }
    expect(found).toBe(50);
  });

  it.each(['/requests', '/?span=7d', '/?span=24h', '/requests/req_200', '/requests?outcome=failed'])(
    'keeps the main thread of a browser free: %s',
    async (path) => {
      const ms = await least(() => longestTaskOf(path), longestTaskMs);
      say(`${path}: longest task ${ms.toFixed(0)} ms`);
      expect(ms).toBeLessThan(longestTaskMs);
    },
  );

  async function longestTaskOf(path: string): Promise<number> {
    const { page, context } = await openAs(browser, { client: ada });
    const ms = await longestTask(browser, page, async () => {
      await page.goto(path);
      await waitUntilLoaded(page);
      await shown(page);
      await page.waitForTimeout(1_500);
    });
    await context.close();
    return ms;
  }

  async function shown(page: Page): Promise<void> {
    await page
      .getByText(/model-\d+/)
      .first()
      .waitFor();
  }
});

/** Prints what was measured, where somebody measures. */
function say(words: string): void {
  if (process.env['MANY_REQUESTS']) process.stdout.write(`${words}\n`);
}
