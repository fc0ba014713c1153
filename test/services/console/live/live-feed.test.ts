import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { LiveWorkers } from '#shared/broker/dispatch/live-workers.ts';
import { LiveFeed } from '../../../../services/console/live/live-feed.ts';

async function openFeed() {
  const feed = new LiveFeed({ workers: () => [] } as unknown as LiveWorkers, () => []);
  const server = createServer((_, response) =>
    feed.open({ response, session: 's', stillSignedIn: async () => true }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    feed.close();
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { feed, ask: () => fetch(url, { signal: AbortSignal.timeout(2_000) }) };
}

describe('a live feed that is closed', () => {
  it('ends the streams that are open, and those of pages that come back', async () => {
    const { feed, ask } = await openFeed();
    const first = await ask();
    feed.close();
    expect(await first.text()).toContain('event: workers');
    const second = await ask();
    expect(await second.text()).toBe('retry: 1000\n\n');
  });
});
