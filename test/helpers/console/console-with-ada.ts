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
  const started: Partial<ConsoleWithAda> = {};
  beforeAll(async () => {
    const found = typeof options === 'function' ? await options() : options;
    // Each is kept as soon as it is there: if the other one fails, it is stopped all the same.
    const [cluster] = await Promise.all([
      startConsole(found).then((running) => (started.cluster = running)),
      openBrowser().then((browser) => (started.browser = browser)),
    ]);
    started.ada = await joinConsole(new ConsoleClient(cluster.url), cluster.firstLink, 'Ada');
  }, 120_000);
  afterAll(async () => {
    await started.browser?.close();
    await started.cluster?.stop();
  });
  return started as ConsoleWithAda;
}
