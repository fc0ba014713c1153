import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The path of this machine's Chromium. While it is undefined, `test/helpers/deploy/get-chromium.sh` may install one. */
export const chromiumPath = places.find((path) => existsSync(path));

if (chromiumPath === undefined) {
  console.warn(
    'No Chromium found: the browser tests are skipped. To install one: bash test/helpers/deploy/get-chromium.sh',
  );
}

/** Starts the machine's Chromium, headless. @param args further flags */
export async function openBrowser(args: readonly string[] = []): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('there is no Chromium on this machine');
  // The sandbox does not work in containers and for root; the pages are our own.
  return chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox', '--disable-dev-shm-usage', ...args] });
}
