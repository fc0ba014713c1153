import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import type { ClusterOptions } from '../cluster/start-cluster.ts';
import { ConsoleClient } from './console-client.ts';
import { joinConsole, type SignedInPerson } from './open-as.ts';
import { openBrowser } from './open-browser.ts';
import { startConsole, type ConsoleCluster } from './start-console.ts';

/** What most tests of the console's pages need. */
export interface ConsoleWithAda {
  cluster: ConsoleCluster;
  browser: Browser;
  /** The first administrator. */
  ada: SignedInPerson;
}

/**
 * Starts a console with its first administrator, and a browser, before the tests of the suite in which it is called, and stops them
 * afterwards. What it returns has them in these tests, and in hooks that the suite adds after it.
 * @param options of the cluster, or what finds them before it starts
 */
export function consoleWithAda(options: ClusterOptions | (() => Promise<ClusterOptions>) = {}): ConsoleWithAda {
  const here: Partial<Awaited<ReturnType<typeof startConsoleWithAda>>> = {};
  beforeAll(async () => {
    Object.assign(here, await startConsoleWithAda(typeof options === 'function' ? await options() : options));
  }, 120_000);
  afterAll(() => here.stop?.());
  return here as ConsoleWithAda;
}

/** The same, until `stop` is called. When a part of it does not start or stop, the others are stopped all the same. */
export async function startConsoleWithAda(
  options: ClusterOptions = {},
): Promise<ConsoleWithAda & { stop: () => Promise<void> }> {
  const [cluster, browser] = await Promise.allSettled([startConsole(options), openBrowser()]);
  const stop = async (): Promise<void> => {
    try {
      if (browser.status === 'fulfilled') await browser.value.close();
    } finally {
      if (cluster.status === 'fulfilled') await cluster.value.stop();
    }
  };
  try {
    if (cluster.status === 'rejected') throw cluster.reason;
    if (browser.status === 'rejected') throw browser.reason;
    const { url, firstLink } = cluster.value;
    const ada = await joinConsole(new ConsoleClient(url), firstLink, 'Ada');
    return { cluster: cluster.value, browser: browser.value, ada, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
