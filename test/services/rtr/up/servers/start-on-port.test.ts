import { expect, it, onTestFinished } from 'vitest';
import { isRunning, killGroup, spawnGuarded } from '#services/rtr/up/children/child.ts';
import { startOnPort } from '#services/rtr/up/servers/start-on-port.ts';

it('a server that is not ready is returned at once when it is to be stopped, so that its stop does not wait for it', async () => {
  const stop = new AbortController();
  let checks = 0;
  const { child } = await startOnPort(
    {
      name: 'a server',
      start: () => spawnGuarded('sleep', ['60']),
      isReady: async () => {
        checks += 1;
        stop.abort();
        return false;
      },
    },
    undefined,
    stop.signal,
  );
  onTestFinished(() => killGroup(child));
  expect(checks).toBe(1);
  expect(isRunning(child)).toBe(true);
});
