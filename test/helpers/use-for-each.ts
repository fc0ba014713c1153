import { beforeEach } from 'vitest';

/** Opens an object for each test of the calling file or suite. The returned object has the fields of that of the running test. */
export function useForEach<Opened extends object>(open: () => Promise<Opened>): Opened {
  const here = {};
  beforeEach(async () => void Object.defineProperties(here, Object.getOwnPropertyDescriptors(await open())));
  return here as Opened;
}
