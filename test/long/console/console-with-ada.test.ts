import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startConsoleWithAda } from '../../helpers/console/console-with-ada.ts';
import { chromiumPath } from '../../helpers/console/open-browser.ts';

describe.skipIf(chromiumPath === undefined)('a console for tests', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('leaves no cluster behind where the browser does not start', async () => {
    vi.spyOn(chromium, 'launch').mockRejectedValueOnce(new Error('no browser'));
    const PORT = String(await freePort());
    await expect(startConsoleWithAda({ workers: 0, ingress: { PORT } })).rejects.toThrow('no browser');
    // It takes longer to start than the browser not to.
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    expect(await serves(PORT)).toBe(false);
  });

  it('stops the cluster where the browser does not stop', async () => {
    const { cluster, browser, stop } = await startConsoleWithAda({ workers: 0 });
    const { port } = new URL(cluster.url);
    expect(await serves(port)).toBe(true);
    const close = browser.close.bind(browser);
    vi.spyOn(browser, 'close').mockImplementationOnce(async () => {
      await close();
      throw new Error('not closed');
    });
    await expect(stop()).rejects.toThrow('not closed');
    expect(await serves(port)).toBe(false);
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function serves(port: string): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  );
}
