import { readFileSync } from 'node:fs';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectBroker, type Broker } from '#shared/broker/connection/connect-broker.ts';
import { parseCredential } from '#shared/broker/connection/credential.ts';
import { ensurePoolConsumers } from '#shared/broker/dispatch/queue/jobs-stream.ts';
import { encodePull } from '#shared/broker/contract/pull.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import { encodeAck } from '#shared/broker/contract/ack.ts';
import { startIngress, type TestIngress } from '../../../helpers/broker/broker-parties.ts';
import { tapBroker } from '../../../helpers/broker/tapped-broker.ts';
import { startSecuredNats } from '../../../helpers/servers/start-secured-nats.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import { until } from '../../../helpers/until.ts';
import { useStarted } from '../../../helpers/use-started.ts';

let broker: Broker;
let ingress: TestIngress;
/** A connection with the credential of the gpu workers, and the end of the subjects of its worker. */
let worker: NatsConnection;
let w1: string;

const nats = useStarted(() => startSecuredNats({ prefix: 'rtr' }));
beforeAll(async () => {
  const credential = parseCredential(readFileSync(nats.files.ingress, 'utf8'));
  const url = `nats://127.0.0.1:${nats.port}`;
  broker = await connectBroker({ url, credential, name: 'in', prefix: 'rtr', log: silentLog });
  ingress = await startIngress(tapBroker(broker), { ingress: 'in' });
  for (const tier of ['gpu', 'cloud'] as const) await ensurePoolConsumers(broker, tier, 'p');
  const { nc, key } = await nats.connectWith(nats.files.gpu);
  worker = nc;
  w1 = `gpu.gpu.w1.${key}`;
});

afterAll(() => ingress.close());

async function waitingIn(tier: 'gpu' | 'cloud'): Promise<number> {
  const manager = await jetstreamManager(broker.nc, { checkAPI: false });
  return (await manager.streams.info(`rtr_JOBS_${tier}`)).state.messages;
}

/** Pulls as the worker does, answered at its own inbox. */
function pull(lane: PriorityClass): Promise<Msg> {
  const reply = `rtr.inbox.${w1}.pull.${lane}`;
  const payload = encodePull({ pool: 'p', class: lane, batch: 1 });
  return worker.request(`rtr.pull.in.${w1}`, payload, { timeout: 20_000, noMux: true, reply });
}

/** Everything that a worker may publish, each with a message that would be answered. */
const listAsks = (): [string, string, string][] => [
  ['a pull that finds nothing', `rtr.pull.in.${w1}`, encodePull({ pool: 'p', class: 'low', batch: 1 })],
  ['a pull that waits', `rtr.pull.in.${w1}`, encodePull({ pool: 'p', class: 'low', batch: 1, expiresMs: 1_000 })],
  [
    'a pull that waits with heartbeats',
    `rtr.pull.in.${w1}`,
    encodePull({ pool: 'p', class: 'low', batch: 1, expiresMs: 6_000, heartbeatMs: 3_000 }),
  ],
  ['a request for lanes', `rtr.lanes.${w1}`, 'p'],
  ['a claim', `rtr.claim.in.${w1}`, JSON.stringify({ v: 1, job: 'x', ticket: '' })],
  ['a heartbeat', `rtr.heartbeat.${w1}`, 'gone'],
  ['a frame', 'rtr.reply.in.grant.k.0', ''],
  ['a frame without a number in its subject', 'rtr.reply.in.grant.d._', ''],
  ['a frame that no ingress receives', 'rtr.reply.gone.grant.d._', ''],
];

/** Subjects to which an ingress or the server may publish, and a worker may not. */
const targets = [
  '$JS.API.STREAM.PURGE.rtr_JOBS_cloud',
  'rtr.cancel.gpu.other.w2.p',
  'rtr.inbox.gpu.other.w2.p.alive.x',
];

it('a worker cannot make an ingress or the server answer at a subject that is not its own', async () => {
  for (let count = 0; count < 3; count += 1) broker.publish('rtr.jobs.cloud.p.high', '{}');
  await broker.flush();
  const received: string[] = [];
  const { nc: all } = await nats.connectWith(await nats.issue({ role: 'gpu', name: 'other' }));
  for (const subject of ['rtr.cancel.gpu.other.*.*', 'rtr.inbox.gpu.other.w2.p.>'])
    all.subscribe(subject, { callback: (_, message) => void received.push(message.subject) });
  await all.flush();
  for (const [, subject, payload] of listAsks())
    for (const reply of targets) worker.publish(subject, payload, { reply });
  await worker.flush();
  // The answer at the worker's own inbox shows that the requests before were handled.
  expect((await pull('low')).headers?.code).toBe(404);
  await broker.flush();
  await all.flush();
  expect(received).toEqual([]);
  expect(await waitingIn('cloud')).toBe(3);
});

it('an ingress acks no ticket of another tier for a worker', async () => {
  broker.publish('rtr.jobs.gpu.p.high', '{}');
  await broker.flush();
  const ticket = await pull('high');
  const ack = (subject: string, at: string): void => worker.publish(subject, encodeAck({ ticket: at, as: 'done' }), {});
  const own = `rtr.ack.in.${w1}`;
  const before = [await waitingIn('gpu'), await waitingIn('cloud')];
  for (const at of ['$JS.API.STREAM.PURGE.rtr_JOBS_gpu', '$JS.ACK.rtr_JOBS_cloud.p_high.1.1.1.1.0', 'rtr.keys', ''])
    ack(own, at);
  ack(own, String(ticket.reply).replace('gpu', 'cloud'));
  ack(own, `$JS.ACK.rtr_JOBS_cloud.p_high.rtr_JOBS_gpu.1.1.1.1.0.x`);
  await worker.flush();
  await broker.flush();
  await broker.flush();
  expect([await waitingIn('gpu'), await waitingIn('cloud')]).toEqual(before);
  ack(own, String(ticket.reply));
  await until(async () => expect(await waitingIn('gpu')).toBe(0));
});
