import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { Socket, type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { LiveFeed } from '#services/console/live/live-feed.ts';

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

describe('a page whose session has ended', () => {
  it('is told nothing more, also when it has not read what it was told before', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const workers = { workers: () => [] } as unknown as LiveWorkers;
    let waiting = 0;
    const stats = (): IngressStats => ({
      v: 1,
      at: 0,
      requests: [],
      tokens: [],
      errors: [],
      firstToken: [],
      activeStreams: (waiting += 1),
      servedByTier: {},
      lanes: [],
      failures: [],
    });
    const feed = new LiveFeed(workers, () => [stats()]);
    onTestFinished(() => feed.close());
    // Without a connection all that is written waits, as when the other side does not read.
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    const errors: Error[] = [];
    response.on('error', (error) => void errors.push(error));
    feed.open({ response, session: 's', stillSignedIn: async () => false });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(response.writableEnded).toBe(true);
    expect(errors).toEqual([]);
    expect(waiting).toBeLessThan(9);
  });
});
