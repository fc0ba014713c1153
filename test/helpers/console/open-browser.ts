import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';
import { timeStart } from '../processes/starts.ts';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The path of this machine's Chromium. `test/helpers/deploy/get-chromium.sh` installs one. */
export const chromiumPath = places.find((path) => existsSync(path));

/** Starts the machine's Chromium, headless. @param args further flags */
export async function openBrowser(args: readonly string[] = []): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('there is no Chromium on this machine');
  // The sandbox does not work in containers and for root; the pages are our own.
  const options = { executablePath: chromiumPath, args: ['--no-sandbox', '--disable-dev-shm-usage', ...args] };
  return timeStart('browser', () => chromium.launch(options));
}
