import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { ComposeProject } from './compose-project.ts';
import { docker } from './run-command.ts';
import { tell } from './tell.ts';
import { Traffic, type Outcome } from './traffic.ts';
import { describeUse } from './describe-use.ts';

const options = inject('composeOptions');
const compose = new ComposeProject({ ...options, profiles: [...(options.profiles ?? []), 'cloud'] });
const { url, key } = inject('composeCluster') ?? { url: '', key: '' };

/** Milliseconds within which everything is as before, whatever was killed. */
const normalMs = 45_000;

let traffic: Traffic | undefined;
beforeAll(() => compose.up());
afterEach(() => traffic?.stop());
afterAll(() => compose.run('rm', '--stop', '--force', 'worker-cloud', 'upstream'));

const openTraffic = (clients = 8): Traffic => (traffic = new Traffic({ url, key, clients }));
const count = (outcomes: readonly Outcome[], ...endings: Outcome['ending'][]): number =>
  outcomes.filter(({ ending }) => endings.includes(ending)).length;

/** Ends a container at once, as a crash does, and starts it again after a while. */
async function crash(container: string, awayMs: number): Promise<void> {
  await docker('kill', container);
  await sleep(awayMs);
  await docker('start', container);
}

/** Stops a container in good order, as it must be able to within its time, and starts it again. */
async function restart(container: string): Promise<void> {
  await docker('stop', '--time', '40', container);
  expect((await docker('inspect', '--format', '{{.State.ExitCode}}', container)).trim()).toBe('0');
  await docker('start', container);
}

/** Lets traffic run, does something to the cluster, and looks at every answer until all is normal again. */
async function whileTrafficRuns(what: string, does: () => Promise<unknown>): Promise<Outcome[]> {
  const running = openTraffic();
  await running.untilWhole(500, 60_000);
  const began = performance.now();
  await does();
  await running.untilWhole(3_000, normalMs);
  const outcomes = (await running.stop()).filter(({ ended }) => ended >= began);
  const told = (['whole', 'told', 'refused', 'cut', 'silent'] as const).map(
    (ending) => `${count(outcomes, ending)} ${ending}`,
  );
  tell(`${what}: ${told.join(', ')}; normal after ${(Math.max(0, running.lastTrouble - began) / 1000).toFixed(1)} s`);
  expect(outcomes.filter(({ ending }) => ending === 'silent')).toEqual([]);
  return outcomes;
}

describe('the cluster of the Compose file', () => {
  it('answers through the load balancer, which streams and says who asked', async () => {
    const answer = await fetch(`${url}/api/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'demo',
        stream: true,
        messages: [{ role: 'user', content: 'Go on.\n[demo tokens=40 rate=20]' }],
      }),
    });
    const times: number[] = [];
    for await (const _ of answer.body ?? []) times.push(performance.now());
    expect(times.length).toBeGreaterThan(20);
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(1_000);
  });

  it('serves tools, the console and a provider in the cloud', async () => {
    const authorization = `Bearer ${key}`;
    const tool = await fetch(`${url}/api/tools/v1/execute`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ tool: 'calculator', input: { expression: '2^64' } }),
    });
    expect(await tool.text()).toContain('18446744073709551616');
    expect(await (await fetch(url, { headers: { accept: 'text/html' } })).text()).toContain('<div id="root"');
    const cloud = await fetch(`${url}/api/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'cloudy', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    expect([cloud.status, cloud.headers.get('x-rtr-tier')]).toEqual([200, 'cloud']);
  });

  it('shows the key only at the first start', async () => {
    await compose.run('up', '--detach', '--no-build', 'setup');
    await expect.poll(() => compose.logs('setup'), { timeout: 20_000 }).toContain('Set up already');
    expect(await compose.key()).toBe(key);
  });

  it('scales to three ingress nodes and four workers, and uses them all', async () => {
    await compose.up('--scale', 'ingress=3', '--scale', 'worker-gpu=4', '--no-recreate');
    const workers = new Set<string>();
    const nodes = async (): Promise<number> => {
      const answers = await Promise.all(
        Array.from({ length: 24 }, () =>
          fetch(`${url}/api/openai/v1/chat/completions`, {
            method: 'POST',
            headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
            body: JSON.stringify({
              model: 'demo',
              messages: [{ role: 'user', content: 'Hi\n[demo tokens=40 rate=40]' }],
            }),
          }),
        ),
      );
      for (const answer of answers) workers.add(answer.headers.get('x-rtr-worker') ?? '');
      return workers.size;
    };
    await expect.poll(nodes, { timeout: 30_000 }).toBe(4);
    expect(await compose.containers('ingress')).toHaveLength(3);
  });

  it('tells what it takes, idle and under load', async () => {
    tell(`idle: ${await describeUse(compose)}`);
    const running = openTraffic(64);
    await sleep(8_000);
    tell(`with 64 streams: ${await describeUse(compose)}`);
    expect(count(await running.stop(), 'whole')).toBeGreaterThan(64);
  });

  it('moves on when a worker is killed mid-stream', async () => {
    const outcomes = await whileTrafficRuns('a worker killed', async () => {
      const [worker = ''] = await compose.containers('worker-gpu');
      await crash(worker, 3_000);
    });
    // Only what that worker had begun to stream is lost, and its clients hear so.
    expect(count(outcomes, 'told', 'cut', 'refused')).toBeLessThanOrEqual(8);
    expect(count(outcomes, 'whole')).toBeGreaterThan(count(outcomes, 'told', 'cut', 'refused'));
  });

  it('goes on with the other ingress nodes when one is killed', async () => {
    const outcomes = await whileTrafficRuns('an ingress killed', async () => {
      const [ingress = ''] = await compose.containers('ingress');
      await crash(ingress, 3_000);
    });
    expect(count(outcomes, 'cut', 'refused')).toBeLessThanOrEqual(16);
  });

  it('lets running answers end when an ingress is stopped', async () => {
    const outcomes = await whileTrafficRuns('an ingress stopped', async () => {
      const [ingress = ''] = await compose.containers('ingress');
      await restart(ingress);
    });
    expect(outcomes.filter(({ ending }) => ending === 'cut' || ending === 'told')).toEqual([]);
  });

  it('lets running answers end when a worker is stopped', async () => {
    const outcomes = await whileTrafficRuns('a worker stopped', async () => {
      const [worker = ''] = await compose.containers('worker-gpu');
      await restart(worker);
    });
    expect(outcomes.filter(({ ending }) => ending !== 'whole')).toEqual([]);
  });

  it('comes back when NATS was killed', async () => {
    await whileTrafficRuns('NATS killed', async () => crash(await compose.container('nats'), 2_000));
  });

  it('goes on with keys that it knows while Redis is away', async () => {
    const outcomes = await whileTrafficRuns('Redis killed', async () => crash(await compose.container('redis'), 3_000));
    expect(outcomes.filter(({ ending }) => ending !== 'whole')).toEqual([]);
  });

  it('keeps keys and refuses nobody when all of it was stopped and started', async () => {
    await compose.run('down', '--timeout', '20');
    await compose.up();
    const answer = await fetch(`${url}/api/openai/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    expect(answer.status).toBe(200);
  });
});
