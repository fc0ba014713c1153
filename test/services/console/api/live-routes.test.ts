import express from 'express';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Confirmation } from '#shared/accounts/sign-in/confirmation.ts';
import { liveRoutes } from '#services/console/api/live-routes.ts';
import { requireSession } from '#services/console/api/session/signed-in.ts';
import type { LiveFeed, PageStream } from '#services/console/live/live-feed.ts';
import { makeAdmin, openKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { serveInTest } from '../../../helpers/servers/serve-http.ts';

it('the provider of a person with an open page is asked once a minute, and the page ends when the provider refuses', async () => {
  const open = await openKeyStore();
  const { accounts } = open;
  const ada = await makeAdmin(open);
  const answers: Confirmation[] = ['confirmed', 'confirmed', 'unknown', 'refused'];
  accounts.sessions.setConfirm(async () => answers.shift() ?? 'refused');
  const pages: PageStream[] = [];
  const feed = {
    hasRoom: () => true,
    open: (page: PageStream) => {
      pages.push(page);
      page.response.end();
    },
  } as unknown as LiveFeed;
  const about = { release: 'any' } as unknown as Parameters<typeof liveRoutes>[0]['about'];
  const app = express();
  app.use(requireSession(accounts), liveRoutes({ accounts, feed, about }));
  const url = await serveInTest(app);
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const session = (await accounts.sessions.open(ada, { provider: 'company' })) ?? '';
  expect((await fetch(`${url}/live`, { headers: { cookie: `rtr=${session}` } })).status).toBe(200);
  const [page] = pages;
  const isAda = expect.objectContaining({ userId: ada.id }) as unknown;
  vi.advanceTimersByTime(59_000);
  expect([await page?.currentViewer(), answers.length]).toEqual([isAda, 3]);
  vi.advanceTimersByTime(1_000);
  expect([await page?.currentViewer(), answers.length]).toEqual([isAda, 2]);
  expect([await page?.currentViewer(), answers.length]).toEqual([isAda, 2]);
  vi.advanceTimersByTime(60_000);
  await expect(page?.currentViewer()).rejects.toMatchObject({ name: 'UnconfirmedError' });
  vi.advanceTimersByTime(60_000);
  expect(await page?.currentViewer()).toBeUndefined();
});
