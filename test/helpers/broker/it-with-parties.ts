import { test } from 'vitest';
import { startParties, type Parties, type PartyOptions } from './broker-parties.ts';

export type StartParties = (options?: PartyOptions) => Promise<Parties>;

/** `it` whose tests start parties with `start`. They end with the test. */
export const it = test.extend<{ start: StartParties }>({
  start: async ({ onTestFinished }, use) =>
    use(async (options) => {
      const parties = await startParties(options);
      onTestFinished(() => parties.close());
      return parties;
    }),
});
