import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readAuthority } from '#shared/broker/authority/authority-folder.ts';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';
import { ConsoleClient } from '../helpers/console/console-client.ts';
import { goodPassword } from '../helpers/console/good-password.ts';
import { firstLinkToken } from '../helpers/console/start-console.ts';
import { startProcess, type ServiceProcess } from '../helpers/processes/start-process.ts';
import { startSecuredNats, type SecuredNats } from '../helpers/servers/start-secured-nats.ts';
import { until } from '../helpers/until.ts';

const email = 'ada@example.com';
const path = '/worker-credentials';
const prefix = `c${randomBytes(4).toString('hex')}`;
let nats: SecuredNats;
let cluster: Cluster;
let other: { process: ServiceProcess; url: string };
/** The administrator, at each of two ingress nodes that share the folder of the authority. */
let ada: [ConsoleClient, ConsoleClient];

beforeAll(async () => {
  nats = await startSecuredNats({ prefix });
  cluster = await startCluster({
    prefix,
    natsUrl: `nats://127.0.0.1:${nats.port}`,
    ingress: { NATS_CREDENTIALS: nats.files.ingress, CREDENTIALS_DIR: nats.folder },
    workers: 0,
  });
  other = await cluster.addIngress();
  ada = [new ConsoleClient(cluster.url), new ConsoleClient(other.url)];
  await ada[0].post(`/links/${await firstLinkToken(prefix)}`, { name: 'Ada', email, password: goodPassword });
  await ada[1].signIn(email, goodPassword);
});

afterAll(async () => {
  await cluster?.stop();
  await nats?.stop();
});

describe('credentials that administrators make', () => {
  it('let a worker join at once, and no more once they are revoked and the servers reloaded', async () => {
    const { status, body } = await ada[0].post(path, { name: 'joes-box', tier: 'gpu', expiresInDays: 1 });
    expect(status).toBe(201);
    expect(body.command).toContain(`--nats nats://127.0.0.1:${nats.port} --credentials joes-box.creds`);
    const file = join(nats.folder, 'joes-box.creds');
    writeFileSync(file, body.text);
    const worker = startProcess('services/gpu-worker/main.ts', {
      NATS_URL: `nats://127.0.0.1:${nats.port}`,
      NATS_CREDENTIALS: file,
      WORKER_ID: 'w1',
      ENGINE_URL: cluster.engineUrl,
    });
    onTestFinished(() => worker.kill());
    const said = (message: string) =>
      cluster.ingress.lines.some(({ msg, worker: who }) => msg === message && who === 'joes-box.w1');
    await until(() => said('worker joined'));

    expect(await ada[1].delete(`${path}/joes-box`)).toMatchObject({ status: 200 });
    nats.reload();
    await worker.line('broker connection lost');
    await until(() => said('worker is lost'), 10_000);
    await worker.line('the broker refuses this credential');
    const secret = /-----BEGIN USER NKEY SEED-----\s+(\S+)/.exec(body.text)?.[1] ?? 'no seed';
    expect(body.text).toContain(secret);
    expect(JSON.stringify([cluster.ingress.lines, other.process.lines])).not.toContain(secret);
  });

  it('are all recorded when two ingress nodes and the command line make them at the same time', async () => {
    const make = (client: ConsoleClient, name: string) => client.post(path, { name, tier: 'cloud' });
    const names = ['a', 'b', 'c', 'd'];
    const [made] = await Promise.all([
      Promise.all(names.map((name, at) => make(ada[at % 2 === 0 ? 0 : 1], name))),
      nats.issue({ role: 'tools', name: 'by-hand' }),
    ]);
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    const recorded = readAuthority(nats.folder).issued.map(({ name }) => name);
    expect(recorded).toEqual(expect.arrayContaining([...names, 'by-hand']));
    const listed = (await ada[1].get(path)).body as { name: string }[];
    expect(listed.map(({ name }) => name)).toEqual(expect.arrayContaining([...names, 'by-hand']));
    expect((await ada[0].get('/about')).body).toMatchObject({ managesCredentials: true });
  });
});

describe('an ingress', () => {
  it.each([
    ['no authority', () => join(nats.folder, 'nowhere'), 'there is no authority'],
    ['that of another cluster', () => nats.folder, `the authority belongs to the cluster ${prefix}`],
  ])('whose CREDENTIALS_DIR has %s does not start, and says so', async (_, folder, reason) => {
    const ingress = startProcess('services/ingress/main.ts', { PORT: '0', ADMIN_PORT: '0', CREDENTIALS_DIR: folder() });
    let said = '';
    ingress.child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const [code] = (await once(ingress.child, 'close')) as [number];
    expect(code).toBe(78);
    expect(said).toContain('CREDENTIALS_DIR=');
    expect(said).toContain(reason);
  });
});
