import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Where a Chromium is on this machine; undefined: `test/helpers/deploy/get-chromium.sh` gets one where that can be done. */
export const chromiumPath = places.find((path) => existsSync(path));

if (chromiumPath === undefined) {
  console.warn('There is no Chromium here, so the browser tests are skipped: bash test/helpers/deploy/get-chromium.sh');
}

/** Starts the machine's Chromium without a window. */
export function openBrowser(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('there is no Chromium on this machine');
  // Its sandbox needs rights that containers and root do not give it; the pages are our own.
  return chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}
