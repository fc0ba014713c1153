import { beforeAll, describe, expect, inject, it } from 'vitest';
import type { ServerResponse } from 'node:http';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { adminOf } from '../../helpers/cluster/worker-admin.ts';
import { until } from '../../helpers/until.ts';
import { chunk, startScriptedEngine } from '../../helpers/upstreams/start-scripted-engine.ts';
import { watchWorkers } from '../../helpers/broker/watch-workers.ts';
import type { ServiceProcess } from '../../helpers/processes/start-process.ts';
import { useStarted } from '../../helpers/use-started.ts';

const workers = new Map<string, { service: ServiceProcess; id: string }>();

/** What the provider answers. */
let answer = (response: ServerResponse): unknown => response.writeHead(404).end();
const refuseKey = (response: ServerResponse): unknown => response.writeHead(401).end('{"error":{"message":"no key"}}');
const answerWell = (response: ServerResponse): unknown => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  return response.end(`${chunk({ content: 'hi' })}${chunk({}, 'stop')}data: [DONE]\n\n`);
};

const provider = useStarted(() => startScriptedEngine((response) => answer(response)));
const cluster = useStarted(() => startCluster({ workers: 0 }));
const watch = useStarted(() => watchWorkers(inject('natsUrl'), cluster.prefix));
beforeAll(async () => {
  const common = { SLOTS: '4', ADMIN_PORT: '0' };
  const [gpu, cli] = await Promise.all([
    cluster.addWorker(common),
    cluster.addCliWorker({ ...common, CLI_MODELS: 'sonnet' }),
  ]);
  const cloud = await cluster.addCloudWorker({
    ...common,
    PROVIDER: 'custom',
    PROVIDER_URL: `${provider.url}/v1`,
    PROVIDER_MODELS: 'big',
  });
  for (const [tier, service] of Object.entries({ gpu, cli, cloud })) {
    const { worker } = await service.line(`${tier}-worker is ready`);
    workers.set(tier, { service, id: String(worker) });
  }
  await until(() => heartbeat('cloud') !== undefined);
});

const heartbeat = (tier: string) => watch.heartbeat(workers.get(tier)?.id ?? '');

async function ask(model: string, content: string): Promise<string> {
  const body = { model, stream: true, messages: [{ role: 'user', content }] };
  return (await post({ url: cluster.url, key: cluster.key, body })).text();
}

const failing = 'failing: upstream_failed';
const probing = { accepting: true, slots: 1, reason: failing };

async function healthOf(tier: string): Promise<unknown> {
  return (await fetch(`${await adminOf(workers.get(tier)?.service)}/health`)).json();
}

describe('a worker whose upstream fails', () => {
  it.each([
    { tier: 'gpu', model: 'demo', bad: 'Hello\n[demo fault=500]' },
    { tier: 'cli', model: 'sonnet', bad: 'Hello [replay drop]' },
    { tier: 'cloud', model: 'big', bad: 'Hello' },
  ])('takes one job at a time after three failures, and all again with the first answer: $tier', async (given) => {
    const { tier, model, bad } = given;
    answer = refuseKey;
    await until(async () => {
      expect(await ask(model, bad)).toContain('"error"');
      // A further request that fails would double the wait for the probe: the heartbeat may be on its way.
      return until(() => heartbeat(tier)?.reason === failing, 1_500).then(
        () => true,
        () => false,
      );
    });
    await until(() => expect(heartbeat(tier)).toMatchObject(probing));
    expect(await healthOf(tier)).toMatchObject({ status: 'failing', reason: failing });
    answer = answerWell;
    expect(await ask(model, 'Hello')).toContain('[DONE]');
    await until(() => expect(heartbeat(tier)).toMatchObject({ accepting: true, slots: 4 }));
    expect(heartbeat(tier)?.reason).toBeUndefined();
    expect(await healthOf(tier)).toMatchObject({ status: 'serving' });
  });

  it('takes no more jobs when its streams hang, keeps their slots, and takes all again when one of them goes on', async () => {
    answer = answerWell;
    expect(await ask('big', 'Hello')).toContain('[DONE]');
    const hanging: ServerResponse[] = [];
    answer = (response) => hanging.push(response);
    const asked = Array.from({ length: 3 }, () => ask('big', 'Hello'));
    await until(() => hanging.length === 3);
    await until(() => expect(heartbeat('cloud')).toMatchObject({ accepting: false, reason: 'failing: no_output' }));
    await until(() => expect(heartbeat('cloud')).toMatchObject({ accepting: true, slots: 4, busy: 3 }));
    for (const response of hanging) answerWell(response);
    for (const text of await Promise.all(asked)) expect(text).toContain('[DONE]');
    await until(() => expect(heartbeat('cloud')).toMatchObject({ accepting: true, slots: 4, busy: 0 }));
    expect(heartbeat('cloud')?.reason).toBeUndefined();
  });
});
