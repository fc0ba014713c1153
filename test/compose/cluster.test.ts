// @module-tag docker
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startProcess } from '../helpers/processes/start-process.ts';
import { count, crash, restart, whileTrafficRuns } from '../helpers/compose/break-things.ts';
import { ComposeProject } from '../helpers/compose/compose-project.ts';
import { runCommand } from '../helpers/compose/run-command.ts';
import { describeUse, report } from '../helpers/compose/report.ts';
import { Traffic } from '../helpers/compose/traffic.ts';
import { temporaryFolder } from '../helpers/files/temporary-folder.ts';
import { stopAfterTest } from '../helpers/stop-after-test.ts';
import { until } from '../helpers/until.ts';
import { statusWith } from '../helpers/clients/status-with.ts';
import { slowCat } from '../helpers/cluster/worker-settings.ts';

const options = inject('composeOptions');
const compose = new ComposeProject({ ...options, profiles: [...(options.profiles ?? []), 'cloud'] });
const where = inject('composeCluster') ?? { url: '', key: '' };
const { url, key } = where;

beforeAll(() => compose.up());
afterAll(() => compose.run('rm', '--stop', '--force', 'worker-cloud', 'upstream'));

function post(path: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return fetch(`${url}/api${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Runs `rtr credentials` in the project, which has the keys that sign them. */
const trust = ['run', '--rm', '-T', '--entrypoint', 'rtr', 'prepare', 'credentials'];

/** An answer to a chat request through the load balancer. */
function chat(model: string, content: string, more: object = {}): Promise<Response> {
  return post('/openai/v1/chat/completions', { model, messages: [{ role: 'user', content }], ...more });
}

describe('the cluster of the Compose file', () => {
  it('answers through the load balancer, which streams and passes on the address of the client', async () => {
    // The whole answer takes ten minutes.
    const reader = (await chat('demo', 'Go on.\n[demo tokens=12000 rate=20]', { stream: true })).body?.getReader();
    for (let piece = 0; piece < 20; piece += 1) expect((await reader?.read())?.done).toBe(false);
    await reader?.cancel();
  });

  it('serves tools, the console and a cloud provider', async () => {
    const tool = await post('/tools/v1/execute', { tool: 'calculator', input: { expression: '2^64' } });
    expect(await tool.text()).toContain('18446744073709551616');
    expect(await (await fetch(url, { headers: { accept: 'text/html' } })).text()).toContain('<div id="root"');
    const cloud = await chat('cloudy', 'Hello');
    expect([cloud.status, cloud.headers.get('x-rtr-tier')]).toEqual([200, 'cloud']);
  });

  it('prints the key only at the first start', async () => {
    await compose.run('up', '--detach', '--no-build', 'setup');
    await until(async () => expect(await compose.logs('setup')).toContain('Set up already'));
    expect(await compose.key()).toBe(key);
  });

  it('scales to three ingress nodes and four workers, and uses them all', async () => {
    await compose.up('--scale', 'ingress=3', '--scale', 'worker-gpu=4', '--no-recreate');
    const workers = new Set<string>();
    const nodes = async (): Promise<number> => {
      const answers = await Promise.all(Array.from({ length: 24 }, () => chat('demo', 'Hi\n[demo tokens=40 rate=40]')));
      for (const answer of answers) workers.add(answer.headers.get('x-rtr-worker') ?? '');
      return workers.size;
    };
    await until(async () => expect(await nodes()).toBe(4));
    expect(await compose.containers('ingress')).toHaveLength(3);
  });

  it('is scraped by Prometheus, which finds every replica', async () => {
    await compose.run('--profile', 'observability', 'up', '--detach', '--no-build', 'prometheus');
    const targets = async (): Promise<string[]> => {
      const answer = await fetch(`http://127.0.0.1:${options.env?.['PROMETHEUS_PORT']}/api/v1/query?query=up==1`);
      const { data } = (await answer.json()) as { data: { result: { metric: { job: string } }[] } };
      return data.result.map(({ metric }) => metric.job).sort();
    };
    const [ingresses, workers] = [Array(3).fill('rtr-ingress'), Array(6).fill('rtr-worker')];
    const all = [...ingresses, 'rtr-runner', ...workers];
    await until(async () => expect(await targets()).toEqual(all), 60_000);
    await compose.run('--profile', 'observability', 'rm', '--stop', '--force', 'prometheus');
  });

  it('accepts a worker from another machine with one address and one file, until its credential is revoked', async () => {
    await compose.run('--profile', 'outside', 'up', '--detach', '--wait', '--no-build', 'gate');
    const out = '/volumes/trust/joes-box.creds';
    const what = ['--from', '/volumes/trust', '--tier', 'cli', '--name', 'joes-box', '--out', out];
    await compose.run(...trust, 'worker', ...what);
    const file = join(temporaryFolder(), 'joes-box.creds');
    writeFileSync(file, await compose.run('run', '--rm', '-T', '--entrypoint', 'cat', 'prepare', out));
    const address = `ws://127.0.0.1:${options.env?.['GATE_PORT']}`;
    const words = ['worker', 'cli', '--nats', address, '--credentials', file];
    const worker = stopAfterTest(startProcess('services/rtr/main.ts', { ...slowCat(), WORKER_ID: 'w1' }, words));
    const whoServes = async (): Promise<string> => {
      const answer = await chat('cat', 'Hello');
      await answer.text();
      return answer.headers.get('x-rtr-worker') ?? String(answer.status);
    };
    await until(async () => expect(await whoServes()).toBe('joes-box.w1'));
    // Its address stays the same, so it reconnects by itself.
    await compose.run('restart', 'gate');
    await worker.line('broker connection is back');
    await until(async () => expect(await whoServes()).toBe('joes-box.w1'));

    await compose.run(...trust, 'revoke', '--from', '/volumes/trust', 'joes-box');
    await compose.run('run', '--rm', '-T', 'prepare', 'trust');
    await compose.run('kill', '--signal', 'HUP', 'nats');
    await until(async () => expect(await whoServes()).not.toBe('joes-box.w1'));
    const doctor = ['services/rtr/main.ts', 'doctor', '--nats', address, '--credentials', file, '--role', 'cli'];
    expect(await runCommand(process.execPath, doctor)).toContain('the broker does not accept it');
    await compose.run('rm', '--stop', '--force', 'gate');
  });

  it('reports its resource use, idle and under load', async () => {
    report(`idle: ${await describeUse(compose)}`);
    const running = new Traffic({ ...where, clients: 64 });
    await sleep(4_000);
    report(`with 64 streams: ${await describeUse(compose)}`);
    expect(count(await running.stop(), 'whole')).toBeGreaterThan(64);
  });

  it('continues when a worker is killed mid-stream', async () => {
    const outcomes = await whileTrafficRuns('a worker killed', where, async () =>
      crash(await compose.container('worker-gpu'), 3_000),
    );
    // Only streams of that worker are lost, and their clients receive an error.
    expect(count(outcomes, 'failed', 'cut', 'refused')).toBeLessThanOrEqual(8);
    expect(count(outcomes, 'whole')).toBeGreaterThan(count(outcomes, 'failed', 'cut', 'refused'));
  });

  it('continues with the other ingress nodes when one is killed', async () => {
    const outcomes = await whileTrafficRuns('an ingress killed', where, async () =>
      crash(await compose.container('ingress'), 3_000),
    );
    expect(count(outcomes, 'cut', 'refused')).toBeLessThanOrEqual(16);
  });

  it('completes running answers when an ingress is stopped', async () => {
    const outcomes = await whileTrafficRuns('an ingress stopped', where, async () =>
      restart(await compose.container('ingress')),
    );
    expect(outcomes.filter(({ ending }) => ending === 'cut' || ending === 'failed')).toEqual([]);
  });

  it('completes running answers when a worker is stopped', async () => {
    const outcomes = await whileTrafficRuns('a worker stopped', where, async () =>
      restart(await compose.container('worker-gpu')),
    );
    expect(outcomes.filter(({ ending }) => ending !== 'whole')).toEqual([]);
  });

  it('recovers after NATS was killed', async () => {
    await whileTrafficRuns('NATS killed', where, async () => crash(await compose.container('nats'), 2_000));
  });

  it('continues with cached keys while Redis is down', async () => {
    const outcomes = await whileTrafficRuns('Redis killed', where, async () =>
      crash(await compose.container('redis'), 3_000),
    );
    expect(outcomes.filter(({ ending }) => ending !== 'whole')).toEqual([]);
  });

  it('keeps keys and refuses no request after everything was stopped and started', async () => {
    await compose.run('down', '--timeout', '20');
    await compose.up();
    expect(await statusWith(url, key)).toBe(200);
  });
});
