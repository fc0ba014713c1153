// @module-tag chromium
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RequestPage } from '#services/console/contract/usage.ts';
import { fillLedger } from '../../helpers/accounts/use-redis.ts';
import { ledgerRecord } from '../../helpers/accounts/ledger-record.ts';
import { askChat } from '../../helpers/console/ask-chat.ts';
import type { ConsoleClient } from '../../helpers/console/console-client.ts';
import { openConsolePage, phone } from '../../helpers/console/console-page.ts';
import { choose, signInAt } from '../../helpers/console/page-actions.ts';
import { expectAccessible, expectGood, expectNoViolation } from '../../helpers/console/page-checks.ts';
import { ownConsole } from '../../helpers/console/console-with-ada.ts';
import { openAs, openPageAs, type KnownPerson } from '../../helpers/console/open-as.ts';
import { least } from '../../helpers/least.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { until } from '../../helpers/until.ts';

const dayMs = 86_400_000;

describe('requests in the console', () => {
  const here = ownConsole({ workers: 2 });
  let ada: ConsoleClient;
  let bob: KnownPerson;
  let otherUrl: string;
  let adasKey: string;
  let bobsKey: string;

  beforeAll(async () => {
    const { cluster } = here;
    otherUrl = (await cluster.addIngress()).url;
    ada = here.ada.client;
    bob = await here.invite('Bob');
    adasKey = String((await ada.post('/keys', { kind: 'user', name: 'laptop' })).body.raw);
    bobsKey = String((await bob.client.post('/keys', { kind: 'user', name: 'bobs key' })).body.raw);
    const old = { model: 'old-model', key: { id: 'k-old', name: 'old key' }, owner: undefined };
    await fillLedger(cluster.prefix, [ledgerRecord({ ...old, id: 'three-days-ago', at: Date.now() - 3 * dayMs })]);
  });

  const ask = (key: string, text?: string, id?: string): Promise<Response> =>
    askChat({ ...here.cluster, key }, text, { stream: true }, id === undefined ? {} : { 'x-request-id': id });
  const send = async (...asked: Parameters<typeof ask>): Promise<string> =>
    (await ask(...asked)).headers.get('x-request-id') ?? '';

  /** Waits until the ledger has a request: the page of one request does not look again. */
  const untilKept = (id: string): Promise<void> =>
    until(async () => (await ada.get(`/usage/requests/${encodeURIComponent(id)}`)).status === 200);

  const rowOf = (page: Page, id: string) =>
    page
      .getByRole('table', { name: 'Requests' })
      .getByRole('row')
      .filter({ has: page.getByLabel(`Details of ${id}`) });

  it('appear in the log within two seconds, unless it is paused', async () => {
    const { page } = await openPageAs(here.ada, '/requests');
    const appear = async (): Promise<number> => {
      const id = await send(adasKey);
      const begun = performance.now();
      await rowOf(page, id).waitFor();
      expect(await page.getByRole('row').nth(1).getByLabel(`Details of ${id}`).count()).toBe(1);
      return performance.now() - begun;
    };
    expect(await least(appear, 2_000)).toBeLessThan(2_000);
    await page.getByRole('button', { name: 'Pause' }).click();
    const late = await send(adasKey);
    await page.waitForTimeout(3_000);
    expect(await rowOf(page, late).count()).toBe(0);
    await page.getByRole('button', { name: 'Continue' }).click();
    await rowOf(page, late).waitFor();
  });

  it('are narrowed by filters that stand in the address', async () => {
    const failed = await send(adasKey, 'Hi!\n[demo fault=500]');
    const served = await send(bobsKey);
    const { page } = await openPageAs(here.ada, '/requests');
    await rowOf(page, served).waitFor();
    await expectAccessible(page);
    await choose(page, 'Outcome', 'Failed');
    await rowOf(page, failed).waitFor();
    await rowOf(page, served).waitFor({ state: 'detached' });
    await choose(page, 'Key', 'bobs key');
    await page.getByText('No request matches the filters.').waitFor();
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
    await page.getByText('No request matches the filters.').waitFor();
  });

  it('of another filter are not added, when they come after it was changed', async () => {
    await send(adasKey);
    await until(async () => (await ada.get('/usage/requests?outcome=done')).body.requests.length > 0);
    const { page } = await openAs(here.ada);
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
    await choose(page, 'Outcome', 'Failed');
    const failed = await send(adasKey, 'Hi!\n[demo fault=500]');
    await rowOf(page, failed).waitFor();
    late.resolve();
    await answered.promise;
    const next = await send(adasKey, 'Hi!\n[demo fault=500]');
    await rowOf(page, next).waitFor();
    expect(await rowOf(page, failed).count()).toBe(1);
    expect(await rowOf(page, 'too-late').count()).toBe(0);
  });

  it('are found by their id, with their course, on any node', async () => {
    const own = uniqueName('my-own-id:1');
    const id = await send(adasKey, 'Hi!\n[demo tokens=20 rate=50]', own);
    expect(id).toBe(own);
    const { page } = await openPageAs(here.ada, '/requests');
    await rowOf(page, id).waitFor();
    await page.getByRole('textbox', { name: 'Request id' }).fill(` ${id} `);
    await page.getByRole('button', { name: 'Find' }).click();
    const attempts = page.getByRole('list', { name: 'Attempts' });
    const attempt = await attempts.getByRole('listitem').last().innerText();
    expect(attempt).toMatch(/^\d\. \S+, by an? (?:offer|claim), served the request/);
    expect(attempt).toMatch(/In the queue [\d.]+ m?s · .*Answer [\d.]+ m?s/s);
    const course = page.getByRole('figure', { name: 'Course of the request' });
    expect(await course.innerText()).toMatch(/[\d.]+ tokens per second/);
    expect(new URL(page.url()).pathname).toBe(`/requests/${encodeURIComponent(own)}`);
    const other = await openPageAs(here.ada, `/requests/${own}`, { origin: otherUrl });
    await other.page.getByRole('list', { name: 'Attempts' }).waitFor();
    await expectAccessible(other.page);
  });

  it('say of each attempt why it ended; the id of an error on Overview leads there', async () => {
    const id = await send(adasKey, 'Hi!\n[demo fault=500]', uniqueName('will-fail'));
    await untilKept(id);
    const { page } = await openPageAs(here.ada, '/');
    await page.getByRole('link', { name: id }).click();
    const attempts = page.getByRole('list', { name: 'Attempts' }).getByRole('listitem');
    await attempts.first().waitFor();
    const { body } = await ada.get(`/usage/requests/${id}`);
    const kept = body[0].timeline.map(({ end }: { end: string }) => end);
    expect(kept.filter((end: string) => end !== 'refused')).toHaveLength(body[0].attempts);
    expect(await attempts.count()).toBe(kept.length);
    expect(await attempts.last().innerText()).toContain(`failed: ${body[0].code}`);
  });

  it("lead there after sign-in, and somebody else's is not there", async () => {
    const id = await send(adasKey, 'Hello!', uniqueName('after-sign-in'));
    const bobsId = await send(bobsKey);
    for (const each of [id, bobsId]) await untilKept(each);
    const { page } = await openConsolePage(here.cluster.url);
    await page.goto(`/requests/${id}`);
    await signInAt(page, 'ada@example.com');
    await page.getByRole('list', { name: 'Attempts' }).waitFor();
    const bobs = await openPageAs(bob, `/requests/${id}`);
    await bobs.page.getByText('No request with this id').waitFor();
    await bobs.page.goto('/requests');
    const table = bobs.page.getByRole('table', { name: 'Requests' });
    await table.getByText('bobs key').first().waitFor();
    expect(await table.getByText('laptop').count()).toBe(0);
  });

  it('that were refused say why, where they are among the samples', async () => {
    // Of each key there is a sample of a reason now and then.
    const { body } = await ada.post('/keys', { kind: 'user', name: 'refused' });
    const id = uniqueName('refused');
    const asked = { ...here.cluster, key: String(body.raw) };
    const { status } = await askChat(asked, 'Hello!', { model: 'no-such-model' }, { 'x-request-id': id });
    expect(status).toBe(404);
    await until(async () => {
      const range = `from=${Date.now() - 60_000}&to=${Date.now() + 60_000}`;
      return JSON.stringify((await ada.get(`/usage/refusals?${range}`)).body.samples).includes(id);
    });
    const { page } = await openPageAs(here.ada, `/requests/${id}`);
    await page.getByText('This request was refused').waitFor();
    await page.getByText(/404 model_not_found/).waitFor();
    await expectNoViolation(page);
  });

  it('are summed up on Overview by span, a member seeing their own', async () => {
    for (const key of [adasKey, bobsKey]) await untilKept(await send(key));
    const { page } = await openPageAs(here.ada, '/');
    await page.getByRole('link', { name: '24 h' }).click();
    const keys = page.getByRole('table', { name: 'Top keys' });
    await keys.getByRole('row', { name: /laptop/ }).waitFor();
    const tile = (name: string): Promise<string> => page.getByRole('region', { name }).innerText();
    await until(async () => expect(await tile('Error rate')).toMatch(/[\d.]+ %\s+\d+ failed/));
    await until(async () => expect(await tile('Total time')).toMatch(/p95 [\d.]+ m?s/));
    await page.getByRole('img', { name: /requests in 24 steps/ }).waitFor();
    await page.getByRole('table', { name: 'Top workers' }).getByRole('row').nth(1).waitFor();
    const requests = async (span: string) => (await ada.get(`/usage/overview?span=${span}`)).body.totals.requests;
    // Of three days ago there is one more.
    await until(async () => expect((await requests('7d')) - (await requests('24h'))).toBe(1));
    await expectAccessible(page);
    await keys.getByRole('link', { name: 'laptop' }).click();
    await page.getByRole('table', { name: 'Requests' }).getByText('laptop').first().waitFor();
    const bobs = await openPageAs(bob, '/?span=1h');
    await bobs.page.getByRole('table', { name: 'Top keys' }).getByRole('row', { name: 'bobs key' }).waitFor();
    expect(await bobs.page.getByText('laptop').count()).toBe(0);
  });

  it('of Usage are those of the span that is chosen', async () => {
    await untilKept(await send(adasKey));
    const { page } = await openPageAs(here.ada, '/usage?span=7d');
    const recent = page.getByRole('table', { name: 'Recent requests' });
    await recent.getByText('old key').waitFor();
    await choose(page, 'Time', 'Today');
    await recent.getByText('old key').waitFor({ state: 'detached' });
    await recent.getByText('laptop').first().waitFor();
    expect(await recent.getByText('old key').count()).toBe(0);
  });

  it('have room on a phone', async () => {
    const id = await send(adasKey, 'Hello!', uniqueName('with-a-colon:1'));
    await untilKept(id);
    for (const path of ['/requests', `/requests/${id}`, '/?span=24h']) {
      const { page } = await openPageAs(here.ada, path, { look: phone });
      await page.getByText('demo').first().waitFor();
      await expectGood(page);
    }
  });
});
