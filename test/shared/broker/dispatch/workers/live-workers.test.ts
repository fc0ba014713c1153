import { describe, expect } from 'vitest';
import { goodbye, type Announcement } from '#shared/broker/contract/announcement.ts';
import { encodeShortHeartbeat } from '#shared/broker/contract/heartbeats.ts';
import { openCredentialName } from '#shared/broker/contract/worker-address.ts';
import { countFreeSlots } from '#shared/broker/dispatch/workers/live-pool.ts';
import { CredentialUsage } from '#shared/broker/dispatch/workers/credential-usage.ts';
import { ProofOfLife } from '#shared/broker/dispatch/workers/live-worker.ts';
import { messageRate } from '#shared/broker/dispatch/workers/worker-messages.ts';
import { announce, announcementOf } from '../../../../helpers/broker/announcement.ts';
import { placementsIn } from '../../../../helpers/broker/broker-parties.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import { made } from '../../../../helpers/accounts/made.ts';
import { least } from '../../../../helpers/least.ts';
import { until } from '../../../../helpers/until.ts';
import type { TappedBroker } from '../../../../helpers/broker/tapped-broker.ts';

describe('the workers in the table of an ingress', () => {
  it('are complete after a request for announcements, long before the next heartbeats', async ({ start }) => {
    const { addWorker, addIngress } = await start();
    await addWorker({ id: 'one' });
    await addWorker({ id: 'two' });
    const ask = async (): Promise<number> => {
      const late = await addIngress();
      const begin = performance.now();
      await late.workers.requestAnnouncements();
      const ms = performance.now() - begin;
      expect(Array.from(late.workers.workers(), ({ id }) => id).toSorted()).toEqual(['one', 'two']);
      expect(late.workers.isKnownModel('demo')).toBe(true);
      return ms;
    };
    expect(await least(ask, 600)).toBeLessThan(600);
  });

  it('share a pool if they serve the same, with the sum of their free slots', async ({ ingress, addWorker }) => {
    await addWorker({ slots: 3 });
    const { worker } = await addWorker({ slots: 5 });
    await addWorker({ kind: 'other', slots: 7 });
    const pools = [...ingress.workers.pools()];
    const pool = made(pools[0]);
    expect(pools).toHaveLength(2);
    expect(countFreeSlots(pool)).toBe(8);
    worker.update({ accepting: false });
    await until(() => countFreeSlots(pool) === 3);
  });

  it('are removed when they leave, but the names of their models are kept', async ({ ingress, addWorker }) => {
    const { worker, id } = await addWorker();
    await worker.close();
    await until(() => ingress.workers.get(id) === undefined);
    expect([...ingress.workers.pools()]).toEqual([]);
    expect(ingress.workers.isKnownModel('demo')).toBe(true);
    expect(ingress.workers.isKnownModel('__proto__')).toBe(false);
  });

  it.for<[string, (id: string) => string]>([
    ['no JSON', () => '{'],
    ['of another shape', () => '{"v":1}'],
    ['of a later release', () => '{"v":2,"worker":"strange"}'],
    ["in another worker's name", (id) => JSON.stringify(announcementOf({ worker: id }))],
    ['of another tier', () => JSON.stringify(announcementOf({ worker: 'strange', tier: 'cloud' }))],
    ['empty, as the broker itself sends them', () => ''],
  ])('do not change after a heartbeat that is %s', async ([, heartbeat], { ingress, addWorker }) => {
    const { id } = await addWorker();
    const { broker, workers } = ingress;
    for (const worker of ['strange', id])
      broker.publish(broker.subjects.heartbeat({ ...someone, worker }), heartbeat(id));
    await broker.flush();
    await broker.flush();
    expect(workers.get('strange')).toBeUndefined();
    expect(workers.get(id)?.pool.pool).not.toBe('p');
  });

  it('are not changed or ended by another process that uses their name', async ({ ingress, addWorker }) => {
    const { id } = await addWorker();
    const { broker, workers } = ingress;
    const known = made(workers.get(id));
    const { address, announcement } = known;
    const { offersAt } = announcement;
    const other = { ...address, process: 'other' };
    const ofOther = { ...announcement, offersAt: `${broker.subjects.inbox(other)}.offer.p` };
    for (const startedAt of [announcement.startedAt - 1, announcement.startedAt, announcement.startedAt + 1])
      announce(ingress, other, { ...ofOther, startedAt });
    for (const payload of [encodeShortHeartbeat({ digest: 'other', busy: 99 }), goodbye])
      broker.publish(broker.subjects.heartbeat(other), payload);
    await broker.flush();
    await broker.flush();
    expect(workers.get(id)).toBe(known);
    expect([known.announcement.offersAt, known.otherJobs]).toEqual([offersAt, 0]);
    expect(workers.findByAddress(other)).toBeUndefined();
  });

  it('are replaced by a process with their name once they are silent', async ({ start }) => {
    const { ingress, forkWorker, addWorker } = await start();
    const { workers } = ingress;
    const killed = await forkWorker({ WORKER_ID: 'same' });
    const { process } = made(workers.get('same')).address;
    await killed.process.kill();
    await addWorker({ id: 'same' });
    await until(() => (workers.get('same')?.address.process ?? process) !== process);
    expect((await ingress.send({}).finished).state).toBe('done');
  });

  it.for(['first', 'second'])('keep their models if an impostor is %s', async (order, { ingress, addWorker }) => {
    const { workers } = ingress;
    const { id, worker } = await addWorker({ id: 'honest' });
    const token = workers.get(id)?.announcement.pool ?? '';
    const impostor = { tier: 'gpu', credentialName: 'mallory', worker: 'w', process: 'p' } as const;
    const impersonate = async (): Promise<void> => {
      announce(ingress, impostor, { pool: token, formats: [], slots: 64 });
      await until(() => workers.get('mallory.w') !== undefined);
    };
    if (order === 'first') {
      await worker.drain(0);
      await worker.close();
      await until(() => workers.get(id) === undefined);
      await impersonate();
      await addWorker({ id: 'honest' });
    } else await impersonate();
    const { pool } = workers.get('honest') ?? {};
    expect(pool?.models).toMatchObject([{ id: 'demo' }]);
    expect(pool?.formats).not.toEqual([]);
    expect(Array.from(pool?.workers ?? [], (each) => each.id)).toEqual(['honest']);
    expect(Array.from(workers.get('mallory.w')?.pool.models ?? [])).toEqual([]);
    const job = ingress.send({ findPlacements: (avoid) => placementsIn(workers, (each) => each === pool, avoid) });
    expect(await job.finished).toMatchObject({ state: 'done' });
  });

  it('appear late if their owner announces too much, and other owners are not affected', async ({ start }) => {
    const { ingress, addWorker } = await start();
    const { broker, workers } = ingress;
    const far = { tier: 'gpu', credentialName: 'joe', worker: 'w', process: 'p' } as const;
    const models = Array.from({ length: 1_500 }, (_, at) => ({ id: `vendor/model-${at}`, capabilities: [] }));
    const change = (number: number): void =>
      announce(ingress, far, { models, version: `${number}`, digest: `${number}` });
    const count = 250;
    for (let number = 1; number <= count; number += 1) change(number);
    await addWorker({ id: 'honest' });
    const seen = Number(workers.get('joe.w')?.announcement.version);
    expect(seen).toBeGreaterThan(10);
    expect(seen).toBeLessThan(count);
    // It is requested again once it may be parsed.
    const asked = broker.subscribe(broker.subjects.retransmit(far), () => change(count));
    await until(() => {
      broker.publish(broker.subjects.heartbeat(far), encodeShortHeartbeat({ digest: `${count}`, busy: 0 }));
      return workers.get('joe.w')?.announcement.version === `${count}`;
    });
    asked.unsubscribe();
  });
});

it('workers beyond the slots, tools or MCP servers of their owner are ignored', async ({ ingress }) => {
  const { broker, workers } = ingress;
  const announceOf = (tier: 'gpu' | 'tools', worker: string, facts: Partial<Announcement>): void =>
    announce(ingress, { tier, credentialName: 'joe', worker, process: 'p' }, facts);
  const describeTool = (name: string) => ({ name, description: '', inputSchema: { type: 'object' } });
  const tools = (kind: string) => Array.from({ length: 3_000 }, (_, at) => describeTool(`${kind}${at}`));
  const server = (name: string) => ({ ...describeTool(`${name}/*`), server: name, passes: ['prompts' as const] });
  const servers = Array.from({ length: 251 }, (_, at) => server(`server-${at}`));
  announceOf('tools', 'servers', { slots: 1, pool: 'servers', tools: servers });
  for (let worker = 0; worker < 7; worker += 1)
    announceOf('gpu', `gpu-${worker}`, { slots: 16_384, startedAt: worker });
  for (const kind of ['a', 'b']) announceOf('tools', `tools-${kind}`, { slots: 1, pool: kind, tools: tools(kind) });
  announceOf('gpu', 'last', { slots: 1 });
  await broker.flush();
  await until(() => workers.get('joe.last') !== undefined);
  expect(Array.from(workers.workers(), ({ id }) => id)).toEqual([
    ...Array.from({ length: 6 }, (_, at) => `joe.gpu-${at}`),
    'joe.tools-a',
    'joe.last',
  ]);
});

it('more messages are read of a credential with many workers', async ({ ingress }) => {
  const { broker, workers } = ingress;
  const { burst, perSecondOfWorker } = messageRate;
  const addressOf = (worker: string) => ({ tier: 'gpu', credentialName: 'joe', worker, process: 'p' }) as const;
  for (let worker = 0; worker < 15; worker += 1) announce(ingress, addressOf(`w${worker}`), {});
  await until(() => workers.get('joe.w14') !== undefined);
  const message = { subject: broker.subjects.pull(ingress.id, addressOf('w0')), data: Buffer.alloc(0) };
  const countRead = (now: number): number =>
    Array.from({ length: burst }, () => workers.workerMessages.admit(message, now)).filter(Boolean).length;
  expect(countRead(0)).toBe(burst);
  expect(countRead(1_000)).toBe(15 * perSecondOfWorker);
});

const someone = { tier: 'gpu', credentialName: 'open', process: 'p' } as const;

const mib = 1024 * 1024;

describe('the limit of an owner', () => {
  const some = { pool: 'p', models: 10, tools: 0, servers: 0, slots: 1, bytes: 100 };

  it('is a thousand workers, until one of them is gone', () => {
    const shares = new CredentialUsage(0);
    for (let count = 0; count < 1_000; count += 1) expect(shares.change('joe', undefined, some)).toBe(true);
    expect(shares.change('joe', undefined, some)).toBe(false);
    expect(shares.change('joe', some, some)).toBe(true);
    expect(shares.change('ann', undefined, some)).toBe(true);
    shares.change('joe', some, undefined);
    expect(shares.change('joe', undefined, some)).toBe(true);
  });

  it('is five thousand models of different pools: replicas have the same', () => {
    const shares = new CredentialUsage(0);
    const [one, other] = ['one', 'other'].map((pool) => ({ ...some, pool, models: 2_500 }));
    for (let count = 0; count < 100; count += 1) shares.change('joe', undefined, one);
    expect(shares.change('joe', undefined, other)).toBe(true);
    expect(shares.change('joe', undefined, { ...some, models: 1 })).toBe(false);
    // A worker that leaves the only pool of its models makes room for those of another one.
    expect(shares.change('joe', other, { ...some, models: 2_500 })).toBe(true);
    expect(shares.change('joe', undefined, other)).toBe(false);
  });

  it('is five thousand tools of different pools: replicas have the same', () => {
    const shares = new CredentialUsage(0);
    const add = (pool: string, tools: number) => shares.change('joe', undefined, { ...some, pool, tools });
    for (let count = 0; count < 100; count += 1) expect(add('one', 2_500)).toBe(true);
    expect([add('other', 2_500), add('third', 1), add('one', 2_500)]).toEqual([true, false, true]);
    shares.change('joe', { ...some, pool: 'other', tools: 2_500 }, undefined);
    expect(add('third', 1)).toBe(true);
  });

  it('is two hundred and fifty MCP servers of different pools', () => {
    const shares = new CredentialUsage(0);
    const add = (pool: string, servers: number) => shares.change('joe', undefined, { ...some, pool, servers });
    expect([add('one', 250), add('other', 1), add('one', 250)]).toEqual([true, false, true]);
  });

  it('is a hundred thousand slots of all its workers together', () => {
    const shares = new CredentialUsage(0);
    const full = { ...some, slots: 16_384 };
    for (let count = 0; count < 6; count += 1) expect(shares.change('joe', undefined, full)).toBe(true);
    expect(shares.change('joe', undefined, full)).toBe(false);
    expect(shares.change('joe', full, some)).toBe(true);
    expect(shares.change('joe', undefined, full)).toBe(true);
  });

  it('is a hundred pools', () => {
    const shares = new CredentialUsage(0);
    for (let pool = 0; pool < 100; pool += 1) shares.change('joe', undefined, { ...some, pool: `${pool}` });
    expect(shares.change('joe', undefined, { ...some, pool: '100' })).toBe(false);
    expect(shares.change('joe', undefined, { ...some, pool: '99' })).toBe(true);
  });

  it('is an eighth of the memory: announcements take eight times their bytes once they are read', () => {
    const shares = new CredentialUsage(512 * mib);
    const add = (pool: number) => shares.change('joe', undefined, { ...some, pool: `${pool}`, bytes: mib });
    for (let pool = 0; pool < 7; pool += 1) expect(add(pool)).toBe(true);
    // What a replica announces is read already.
    expect([add(7), add(0), add(0)]).toEqual([false, true, false]);
  });

  it('does not apply to workers without a credential', () => {
    const shares = new CredentialUsage(512 * mib);
    for (let count = 0; count < 2_000; count += 1)
      shares.change(openCredentialName, undefined, { ...some, bytes: mib });
    expect(shares.change(openCredentialName, undefined, { ...some, models: 9_000, tools: 9_000, slots: 1e6 })).toBe(
      true,
    );
  });
});

/** Blocks all further heartbeats of a worker. */
const dropHeartbeats = ({ broker, loseSent }: TappedBroker): void =>
  loseSent(({ subject }) => subject.startsWith(`${broker.subjects.prefix}.heartbeat.`));

describe.concurrent('a worker without heartbeats', () => {
  it('is alive as long as frames come from it, and its stream is complete', async ({ ingress, addWorker, expect }) => {
    const worker = await addWorker();
    dropHeartbeats(worker);
    const sent = ingress.send({ steps: [{ count: 40, everyMs: 100 }] });
    expect(await sent.finished).toMatchObject({ state: 'done', attempts: 1 });
    expect(sent.text().split('\n')).toHaveLength(41);
    await until(() => ingress.workers.get(worker.id) === undefined);
  });

  it('gets no offers while its heartbeat is late', async ({ ingress, addWorker, expect }) => {
    const worker = await addWorker();
    const live = made(ingress.workers.get(worker.id));
    expect(live.getsOffers).toBe(true);
    dropHeartbeats(worker);
    await until(() => !live.getsOffers);
  });

  it('is reported to every listener, even if another listener throws', async ({ ingress, expect }) => {
    const { workers } = ingress;
    const lost: string[] = [];
    let changes = 0;
    workers.onLost(() => {
      throw new Error('broken');
    });
    workers.onLost(({ id }) => lost.push(id));
    for (const worker of ['one', 'two']) announce(ingress, { ...someone, worker });
    await until(() => workers.size === 2);
    workers.onChange(() => {
      throw new Error('broken');
    });
    workers.onChange(() => (changes += 1));
    await until(() => expect([lost.toSorted(), changes]).toEqual([['one', 'two'], 1]));
  });

  it('is removed with all other silent ones, before the first one loses its jobs', async ({ ingress, expect }) => {
    const { workers } = ingress;
    const known: number[] = [];
    workers.onLost(() => known.push(workers.size));
    for (const worker of ['one', 'two', 'three']) announce(ingress, { ...someone, worker });
    await until(() => workers.size === 3);
    await until(() => expect(known).toEqual([0, 0, 0]));
  });
});

it('a worker lived at a heartbeat if another one followed at its regular time', () => {
  const life = new ProofOfLife();
  life.onHeartbeat(1_000);
  expect(life.provenAt).toBe(Number.NEGATIVE_INFINITY);
  life.onHeartbeat(2_000);
  expect(life.provenAt).toBe(1_000);
  // Heartbeats that a change causes follow each other closely.
  for (let at = 2_010; at < 3_000; at += 10) life.onHeartbeat(at);
  expect(life.provenAt).toBe(2_000);
});

it('heartbeats that a server delivers late, all at once, prove nothing', () => {
  const life = new ProofOfLife();
  life.onHeartbeat(1_000);
  life.onHeartbeat(2_000);
  for (const at of [6_000, 6_001, 6_002]) life.onHeartbeat(at);
  expect(life.provenAt).toBe(2_000);
});
