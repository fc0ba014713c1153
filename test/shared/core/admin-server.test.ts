import type { AddressInfo } from 'node:net';
import { Gauge, Registry } from 'prom-client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createAdminServer, type AdminPages } from '#shared/core/admin-server.ts';
import { listen } from '#shared/core/listen.ts';
import { Releases } from '#shared/core/release.ts';

async function open(pages: Partial<AdminPages>): Promise<(path: string) => Promise<Response>> {
  const releases = new Releases();
  onTestFinished(async () => void (await releases.releaseAll()));
  const health = () => ({ ready: true, facts: {} });
  const server = createAdminServer({ log: { error: vi.fn() }, registry: new Registry(), health, ...pages });
  await listen(server, 0, '127.0.0.1', releases);
  const { port } = server.address() as AddressInfo;
  return (path) => fetch(`http://127.0.0.1:${port}${path}`);
}

describe('the admin server', () => {
  it('is healthy only while its service is ready, and live in any case', async () => {
    let ready = false;
    const ask = await open({ health: () => ({ ready, facts: { status: ready ? 'serving' : 'starting' } }) });
    expect((await ask('/health')).status).toBe(503);
    expect((await ask('/live')).status).toBe(200);
    ready = true;
    const healthy = await ask('/health?verbose');
    expect(healthy.status).toBe(200);
    expect(await healthy.json()).toEqual({ status: 'serving' });
  });

  it("answers 503 on a service's page without a value yet", async () => {
    let load: object | undefined;
    const ask = await open({ otherPages: { '/load': () => load } });
    expect((await ask('/load')).status).toBe(503);
    load = { tiers: {} };
    expect(await (await ask('/load')).json()).toEqual({ tiers: {} });
  });

  it('answers 500 if a metric fails, and 404 at an unknown path', async () => {
    const registry = new Registry();
    const collect = () => Promise.reject(new Error('no'));
    registry.registerMetric(new Gauge({ name: 'broken', help: 'Fails', registers: [], collect }));
    const error = vi.fn();
    const ask = await open({ registry, log: { error } });
    expect((await ask('/metrics')).status).toBe(500);
    expect(error).toHaveBeenCalledOnce();
    const unknown = await ask('/constructor');
    expect(unknown.status).toBe(404);
    expect(await unknown.text()).toContain('/metrics');
  });
});
