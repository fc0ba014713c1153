import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import type { RequestPage } from '#services/console/contract/usage.ts';
import { connectRedis } from '#shared/accounts/redis/connect-redis.ts';
import { createLog } from '#shared/core/log.ts';
import { ledgerRecord } from '../../helpers/accounts/ledger-record.ts';
import { ConsoleClient } from '../../helpers/console/console-client.ts';
import {
  openConsolePage,
  phone,
  seriousViolations,
  wide,
  type LookOptions,
} from '../../helpers/console/console-page.ts';
import { expectAccessible } from '../../helpers/console/expect-accessible.ts';
import { goodPassword } from '../../helpers/console/good-password.ts';
import { inviteToConsole, joinConsole, openAs, openPageAs } from '../../helpers/console/open-as.ts';
import { chromiumPath, openBrowser } from '../../helpers/console/open-browser.ts';
import { startConsole, type ConsoleCluster } from '../../helpers/console/start-console.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { until } from '../../helpers/until.ts';

const dayMs = 86_400_000;

describe.skipIf(chromiumPath === undefined)('requests in the console', () => {
  let cluster: ConsoleCluster;
  let browser: Browser;
  let ada: ConsoleClient;
  let bob: ConsoleClient;
  let otherUrl: string;
  let adasKey: string;
  let bobsKey: string;

  beforeAll(async () => {
    [cluster, browser] = await Promise.all([startConsole({ workers: 2 }), openBrowser()]);
    otherUrl = (await cluster.addIngress()).url;
    const admin = await joinConsole(new ConsoleClient(cluster.url), cluster.firstLink, 'Ada');
    ada = admin.client;
    ({ client: bob } = await inviteToConsole(admin, 'Bob'));
    adasKey = String((await ada.post('/keys', { kind: 'user', name: 'laptop' })).body.raw);
    bobsKey = String((await bob.post('/keys', { kind: 'user', name: 'bobs key' })).body.raw);
    const log = createLog({ service: 'test', level: 'silent', format: 'json' });
    const connection = connectRedis(inject('redisUrl'), { log, name: 'test' });
    await connection.whenReady(AbortSignal.timeout(5_000));
    const bounds = { maxRequests: 50_000, requestsKeptMs: 30 * dayMs };
    const ledger = new UsageLedger(connection.redis, `${cluster.prefix}:`, log, bounds);
    const old = {
      at: Date.now() - 3 * dayMs,
      model: 'old-model',
      key: { id: 'k-old', name: 'old key' },
      owner: undefined,
    };
    ledger.add(ledgerRecord({ ...old, id: 'three-days-ago' }));
    await ledger.close();
    connection.close();
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await cluster?.stop();
  });

  async function send(key: string, text = 'Hello!', id?: string): Promise<string> {
    const answer = await fetch(`${cluster.url}/api/openai/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(id !== undefined && { 'x-request-id': id }),
      },
      body: JSON.stringify({ model: 'demo', stream: true, messages: [{ role: 'user', content: text }] }),
    });
    await answer.text();
    return answer.headers.get('x-request-id') ?? '';
  }

  /** Waits until the ledger has a request: the page of one request does not look again. */
  const untilKept = (id: string): Promise<void> =>
    until(async () => (await ada.get(`/usage/requests/${encodeURIComponent(id)}`)).status === 200);

  const open = (client: ConsoleClient, path: string, look: LookOptions = wide, origin = cluster.url) =>
    openPageAs(browser, { client }, path, { look, origin });

  const rowOf = (page: Page, id: string) =>
    page
      .getByRole('table', { name: 'Requests' })
      .getByRole('row')
      .filter({ has: page.getByLabel(`Details of ${id}`) });

  it('appear in the log within two seconds, unless it is paused', async () => {
    const { page, context, troubles } = await open(ada, '/requests');
    const took: number[] = [];
    const appear = async (id: string): Promise<void> => {
      const begun = performance.now();
      await rowOf(page, id).waitFor();
      took.push(performance.now() - begun);
    };
    for (let count = 0; count < 4; count += 1) {
      const id = await send(adasKey);
      await appear(id);
      expect(await page.getByRole('row').nth(1).getByLabel(`Details of ${id}`).count()).toBe(1);
    }
    await page.getByRole('button', { name: 'Pause' }).click();
    const third = await send(adasKey);
    await page.waitForTimeout(3_000);
    expect(await rowOf(page, third).count()).toBe(0);
    await page.getByRole('button', { name: 'Continue' }).click();
    await appear(third);
    // A busy machine adds delays that are not the log's: most are looked at, not each.
    expect(took.toSorted((one, other) => one - other)[2]).toBeLessThan(2_000);
    expect(troubles).toEqual([]);
    await context.close();
  });

  it('are narrowed by filters that stand in the address', async () => {
    const failed = await send(adasKey, 'Hi!\n[demo fault=500]');
    const served = await send(bobsKey);
    const { page, context } = await open(ada, '/requests');
    await rowOf(page, served).waitFor();
    await expectAccessible(page);
    await page.getByRole('combobox', { name: 'Outcome' }).click();
    await page.getByRole('option', { name: 'Failed' }).click();
    await rowOf(page, failed).waitFor();
    await rowOf(page, served).waitFor({ state: 'detached' });
    await page.getByRole('combobox', { name: 'Key' }).click();
    await page.getByRole('option', { name: 'bobs key' }).click();
    await page.getByText('None is as the filters say.').waitFor();
    // The button is for the pointer; with the keyboard the option is chosen again.
    await page.locator('button[aria-label="Remove the filter Outcome"]').click();
    await rowOf(page, served).waitFor();
    await until(() => expect([...new URL(page.url()).searchParams.keys()]).toEqual(['key']));
    await page.reload();
    await rowOf(page, served).waitFor();
    expect(await rowOf(page, failed).count()).toBe(0);
    await page.goto('/requests?model=old-model');
    await page.getByLabel('Details of three-days-ago').waitFor();
    await page.goto('/requests?model=old-model&span=24h');
    await page.getByText('None is as the filters say.').waitFor();
    await context.close();
  });

  it('of another filter are not added, when they come after it was changed', async () => {
    await send(adasKey);
    await until(async () => (await ada.get('/usage/requests?outcome=done')).body.requests.length > 0);
    const { page, context, troubles } = await openAs(browser, { client: ada });
    const late = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    await page.route('**/console/api/usage/requests?*', async (route) => {
      const { searchParams } = new URL(route.request().url());
      if (searchParams.has('outcome')) return route.continue();
      const json = (await (await route.fetch()).json()) as RequestPage;
      if (!searchParams.has('before')) return route.fulfill({ json: { ...json, next: '1-1' } });
      await late.promise;
      const { body } = await ada.get('/usage/requests?outcome=done&limit=1');
      await route.fulfill({ json: { requests: [{ ...body.requests[0], id: 'too-late', cursor: '1-1' }] } });
      answered.resolve();
    });
    await page.goto('/requests');
    await page.getByRole('button', { name: 'Show earlier requests' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('combobox', { name: 'Outcome' }).click();
    await page.getByRole('option', { name: 'Failed' }).click();
    const failed = await send(adasKey, 'Hi!\n[demo fault=500]');
    await rowOf(page, failed).waitFor();
    late.resolve();
    await answered.promise;
    const next = await send(adasKey, 'Hi!\n[demo fault=500]');
    await rowOf(page, next).waitFor();
    expect(await rowOf(page, failed).count()).toBe(1);
    expect(await rowOf(page, 'too-late').count()).toBe(0);
    expect(troubles).toEqual([]);
    await context.close();
  });

  it('are found by their id, with their course, on any node', async () => {
    const own = uniqueName('my-own-id:1');
    const id = await send(adasKey, 'Hi!\n[demo tokens=20 rate=50]', own);
    expect(id).toBe(own);
    const { page, context, troubles } = await open(ada, '/requests');
    await rowOf(page, id).waitFor();
    await page.getByRole('textbox', { name: 'Request id' }).fill(` ${id} `);
    await page.getByRole('button', { name: 'Find' }).click();
    const attempts = page.getByRole('list', { name: 'Attempts' });
    const attempt = await attempts.getByRole('listitem').last().innerText();
    expect(attempt).toMatch(/^\d\. \S+, by an? (?:offer|claim), served it/);
    expect(attempt).toMatch(/In the queue [\d.]+ m?s · .*Answer [\d.]+ m?s/s);
    expect(await page.getByRole('figure', { name: 'Course of the request' }).innerText()).toMatch(
      /[\d.]+ tokens per second/,
    );
    expect(new URL(page.url()).pathname).toBe(`/requests/${encodeURIComponent(own)}`);
    expect(troubles).toEqual([]);
    await context.close();
    const other = await open(ada, `/requests/${own}`, wide, otherUrl);
    await other.page.getByRole('list', { name: 'Attempts' }).waitFor();
    await expectAccessible(other.page);
    await other.context.close();
  });

  it('say of each attempt why it ended; the id of an error on Overview leads there', async () => {
    const id = await send(adasKey, 'Hi!\n[demo fault=500]', uniqueName('will-fail'));
    await untilKept(id);
    const { page, context } = await open(ada, '/');
    await page.getByRole('link', { name: id }).click();
    const attempts = page.getByRole('list', { name: 'Attempts' }).getByRole('listitem');
    await attempts.first().waitFor();
    const { body } = await ada.get(`/usage/requests/${id}`);
    const kept = body[0].timeline.map(({ end }: { end: string }) => end);
    expect(kept.filter((end: string) => end !== 'refused')).toHaveLength(body[0].attempts);
    expect(await attempts.count()).toBe(kept.length);
    expect(await attempts.last().innerText()).toContain(`failed: ${body[0].code}`);
    await context.close();
  });

  it("lead there after sign-in, and somebody else's is not there", async () => {
    const id = await send(adasKey, 'Hello!', uniqueName('after-sign-in'));
    const bobsId = await send(bobsKey);
    for (const each of [id, bobsId]) await untilKept(each);
    const { page, context } = await openConsolePage(browser, cluster.url);
    await page.goto(`/requests/${id}`);
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByRole('textbox', { name: 'Password' }).fill(goodPassword);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('list', { name: 'Attempts' }).waitFor();
    await context.close();
    const bobs = await open(bob, `/requests/${id}`);
    await bobs.page.getByText('No request with this id').waitFor();
    await bobs.page.goto('/requests');
    await bobs.page.getByRole('table', { name: 'Requests' }).getByText('bobs key').first().waitFor();
    expect(await bobs.page.getByRole('table', { name: 'Requests' }).getByText('laptop').count()).toBe(0);
    await bobs.context.close();
  });

  it('that were refused say why, where they are among the samples', async () => {
    // Of each key there is a sample of a reason now and then.
    const { body } = await ada.post('/keys', { kind: 'user', name: 'refused' });
    const id = uniqueName('refused');
    const answer = await fetch(`${cluster.url}/api/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${body.raw}`, 'content-type': 'application/json', 'x-request-id': id },
      body: JSON.stringify({ model: 'no-such-model', messages: [{ role: 'user', content: 'Hello!' }] }),
    });
    expect(answer.status).toBe(404);
    await until(async () => {
      const range = `from=${Date.now() - 60_000}&to=${Date.now() + 60_000}`;
      return JSON.stringify((await ada.get(`/usage/refusals?${range}`)).body.samples).includes(id);
    }, 10_000);
    const { page, context } = await open(ada, `/requests/${id}`);
    await page.getByText('This request was refused').waitFor();
    await page.getByText(/404 model_not_found/).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await context.close();
  });

  it('are summed up on Overview by span, a member seeing their own', async () => {
    for (const key of [adasKey, bobsKey]) await untilKept(await send(key));
    const { page, context, troubles } = await open(ada, '/');
    await page.getByRole('link', { name: '24 h' }).click();
    const keys = page.getByRole('table', { name: 'Top keys' });
    await keys.getByRole('row', { name: /laptop/ }).waitFor();
    const tile = (name: string): Promise<string> => page.getByRole('region', { name }).innerText();
    await until(async () => expect(await tile('Error rate')).toMatch(/[\d.]+ %\s+\d+ failed/));
    await until(async () => expect(await tile('Total time')).toMatch(/p95 [\d.]+ m?s/));
    await page.getByRole('img', { name: /requests in 24 steps/ }).waitFor();
    await page.getByRole('table', { name: 'Top workers' }).getByRole('row').nth(1).waitFor();
    const requests = async (span: string) =>
      Number((await ada.get(`/usage/overview?span=${span}`)).body.totals.requests);
    // Of three days ago there is one more.
    await until(async () => expect((await requests('7d')) - (await requests('24h'))).toBe(1));
    await expectAccessible(page);
    await keys.getByRole('link', { name: 'laptop' }).click();
    await page.getByRole('table', { name: 'Requests' }).getByText('laptop').first().waitFor();
    expect(troubles).toEqual([]);
    await context.close();
    const bobs = await open(bob, '/?span=1h');
    await bobs.page
      .getByRole('table', { name: 'Top keys' })
      .getByRole('row', { name: /bobs key/ })
      .waitFor();
    expect(await bobs.page.getByText('laptop').count()).toBe(0);
    await bobs.context.close();
  });

  it('of Usage are those of the span that is chosen', async () => {
    await untilKept(await send(adasKey));
    const { page, context } = await open(ada, '/usage?span=7d');
    const recent = page.getByRole('table', { name: 'Recent requests' });
    await recent.getByText('old key').waitFor();
    await page.getByRole('combobox', { name: 'Time' }).click();
    await page.getByRole('option', { name: 'Today' }).click();
    await recent.getByText('old key').waitFor({ state: 'detached' });
    await recent.getByText('laptop').first().waitFor();
    expect(await recent.getByText('old key').count()).toBe(0);
    await context.close();
  });

  it('have room on a phone', async () => {
    const id = await send(adasKey, 'Hello!', uniqueName('with-a-colon:1'));
    await untilKept(id);
    for (const path of ['/requests', `/requests/${id}`, '/?span=24h']) {
      const { page, context } = await open(ada, path, phone);
      await page.getByText('demo').first().waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(await seriousViolations(page)).toEqual([]);
      await context.close();
    }
  });
});
