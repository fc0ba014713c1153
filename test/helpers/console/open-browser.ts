import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';
import { timeStart } from '../processes/starts.ts';

/** The first one draws no window in the background, and takes a third less processor time. */
const places = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].map(
  (name) => `/usr/bin/${name}`,
);

/** The path of this machine's Chromium. `test/helpers/deploy/get-chromium.sh` installs one. */
export const chromiumPath = places.find((path) => existsSync(path));

const flags = [
  // The sandbox does not work in containers and for root; the pages are our own.
  '--no-sandbox',
  '--disable-dev-shm-usage',
  // Names of this machine that browsers do not trust as they trust the loopback address.
  '--host-resolver-rules=MAP *.test 127.0.0.1',
];

let running: Promise<Browser> | undefined;

/**
 * Returns this machine's Chromium, headless. All test files of a process share it: they close their pages, and it ends with the process.
 */
export function shareBrowser(): Promise<Browser> {
  running ??= timeStart('browser', launch);
  return running;
}

async function launch(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('there is no Chromium on this machine');
  const browser = await chromium.launch({ executablePath: chromiumPath, args: flags });
  browser.on('disconnected', () => (running = undefined));
  return browser;
}
