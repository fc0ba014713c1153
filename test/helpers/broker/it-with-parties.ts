import { test } from 'vitest';
import { startParties, type Parties, type PartyOptions } from './broker-parties.ts';

export type StartParties = (options?: PartyOptions) => Promise<Parties>;

interface Fixtures extends Omit<Parties, 'close'> {
  start: StartParties;
  parties: Parties;
}

/**
 * `it` whose tests start parties with `start`, or get those without options as `parties`, and each of their parts by its name. They end
 * with the test.
 */
export const it = test.extend<Fixtures>({
  start: async ({ onTestFinished }, use) =>
    use(async (options) => {
      const parties = await startParties(options);
      onTestFinished(() => parties.close());
      return parties;
    }),
  parties: async ({ start }, use) => use(await start()),
  prefix: async ({ parties }, use) => use(parties.prefix),
  natsUrl: async ({ parties }, use) => use(parties.natsUrl),
  ingress: async ({ parties }, use) => use(parties.ingress),
  addIngress: async ({ parties }, use) => use(parties.addIngress),
  addFarIngress: async ({ parties }, use) => use(parties.addFarIngress),
  addWorker: async ({ parties }, use) => use(parties.addWorker),
  addWaiting: async ({ parties }, use) => use(parties.addWaiting),
  forkWorker: async ({ parties }, use) => use(parties.forkWorker),
});
