import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { upSettings } from '#services/rtr/config.ts';
import { stopChild } from '#services/rtr/up/children/child.ts';
import { SupervisedChild } from '#services/rtr/up/children/supervised-child.ts';
import { loadClusterState } from '#services/rtr/up/cluster-state.ts';
import { ensureServers } from '#services/rtr/up/servers/install-server.ts';
import { startNatsServer } from '#services/rtr/up/servers/start-nats-server.ts';
import { startServers, type Servers } from '#services/rtr/up/servers/start-servers.ts';
import { changeAuthority, isReloaded } from '#shared/broker/authority/authority-folder.ts';
import { issueCredential, revokeCredentials } from '#shared/broker/authority/credentials.ts';
import { ownCredentialFile } from '#shared/broker/authority/own-credentials.ts';
import { connectBroker, type Broker } from '#shared/broker/connection/connect-broker.ts';
import { parseCredential } from '#shared/broker/connection/credential.ts';
import { JetStreamObjects } from '#shared/broker/objects/jetstream-objects.ts';
import { loadConfig } from '#shared/core/load-config.ts';
import { Releases } from '#shared/core/release.ts';
import { silentLog } from '../../../../helpers/silent-log.ts';
import { until } from '../../../../helpers/until.ts';

/*
 * The servers of `rtr up`, without its services: a real NATS server, and no Redis, which has no part in this.
 */

const environment = process.env;
const config = { ...loadConfig(upSettings, {}), REDIS_URL: 'redis://127.0.0.1:1' };
const say = (line: string): void => void process.stderr.write(`${line}\n`);

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-test-servers-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts the servers in a folder. They are stopped after the test, or by `stop`. */
async function start(folder: string) {
  const releases = new Releases();
  onTestFinished(async () => void (await releases.releaseAll()));
  const state = loadClusterState(folder);
  const children: SupervisedChild[] = [];
  const supervise = async (name: string, start: Parameters<typeof SupervisedChild.start>[0]['start']) => {
    const ignore = (): void => undefined;
    const listeners = { onUnexpectedEnd: ignore, onGiveUp: ignore, onChange: ignore };
    const child = await SupervisedChild.start({ name, start, pauseMs: 1, ...listeners });
    children.push(child);
    return child;
  };
  const stop = new AbortController().signal;
  const servers = await startServers({ config, environment, folder, state, supervise, stop, releases, say });
  return { ...servers, children, state, stop: () => releases.releaseAll() };
}

/** Connects to the servers with the credential in a text, until the test ends. */
async function connect(natsUrl: string, text?: string): Promise<Broker> {
  const credential = text === undefined ? undefined : parseCredential(text);
  const broker = await connectBroker({ url: natsUrl, name: 'test', prefix: 'rtr', log: silentLog, credential });
  onTestFinished(() => broker.close());
  return broker;
}

const readOwn = ({ natsAccess }: Servers, role: 'ingress' | 'gpu'): string =>
  readFileSync(ownCredentialFile(natsAccess?.folder ?? '', role), 'utf8');

const openObjects = (broker: Broker): JetStreamObjects => new JetStreamObjects(broker, 16 * 1024 ** 2, silentLog);

async function readObject(objects: JetStreamObjects, name: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of (await objects.get(name)) ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Runs the NATS server of an earlier release in a cluster's folder, which has no credentials, while `work` runs. */
async function withEarlierNats(folder: string, work: (objects: JetStreamObjects) => Promise<unknown>): Promise<void> {
  const { nats: program } = await ensureServers(['nats'], environment, say);
  const { port, child } = await startNatsServer({ program, folder: join(folder, 'nats'), environment });
  const broker = await connectBroker({ url: `nats://127.0.0.1:${port}`, name: 'test', prefix: 'rtr', log: silentLog });
  await work(openObjects(broker));
  await broker.close();
  await stopChild(child, 5_000);
}

describe('the NATS server of a cluster', () => {
  it('refuses connections without a credential, and accepts them over TCP and WebSocket', async () => {
    const servers = await start(createFolder());
    await expect(connect(servers.natsUrl)).rejects.toThrow(/authorization/i);
    for (const url of [servers.natsUrl, servers.natsAccess?.webSocketUrl ?? ''])
      expect((await connect(url, readOwn(servers, 'gpu'))).connected).toBe(true);
  });

  it('has the files of an earlier release, which has them again after a regular stop', async () => {
    const folder = createFolder();
    const [first, second] = [randomBytes(700_000), randomBytes(1_000)];
    await withEarlierNats(folder, (objects) => objects.put('first', Readable.from([first])));
    const servers = await start(folder);
    const objects = openObjects(await connect(servers.natsUrl, readOwn(servers, 'ingress')));
    expect((await readObject(objects, 'first')).equals(first)).toBe(true);
    await objects.put('second', Readable.from([second]));
    await servers.stop();
    await withEarlierNats(folder, async (earlier) => {
      expect((await readObject(earlier, 'first')).equals(first)).toBe(true);
      expect((await readObject(earlier, 'second')).equals(second)).toBe(true);
    });
  });

  it('has its files with a new authority, even after a stop that was not regular', async () => {
    const folder = createFolder();
    const bytes = randomBytes(1_000);
    const before = await start(folder);
    await openObjects(await connect(before.natsUrl, readOwn(before, 'ingress'))).put('file', Readable.from([bytes]));
    for (const child of before.children) await child.stop(5_000);
    // What a power failure leaves, without the credentials.
    const copy = createFolder();
    cpSync(join(folder, 'nats'), join(copy, 'nats'), { recursive: true });
    const after = await start(copy);
    const objects = openObjects(await connect(after.natsUrl, readOwn(after, 'ingress')));
    expect((await readObject(objects, 'file')).equals(bytes)).toBe(true);
  });

  it('cuts a revoked worker within a second, and the others receive every message', async () => {
    const servers = await start(createFolder());
    const folder = servers.natsAccess?.folder ?? '';
    expect(isReloaded(folder)).toBe(true);
    const joesBox = await changeAuthority(folder, async (authority) => {
      const { text, issued } = await issueCredential(authority, { role: 'gpu', name: 'joes-box' });
      authority.issued.push(issued);
      return text;
    });
    const [ingress, worker, revoked] = await Promise.all([
      connect(servers.natsUrl, readOwn(servers, 'ingress')),
      connect(servers.natsUrl, readOwn(servers, 'gpu')),
      connect(servers.natsUrl, joesBox),
    ]);
    const received: number[] = [];
    ingress.subscribe(ingress.subjects.allReplies('*'), ({ data }) =>
      received.push(Number(new TextDecoder().decode(data))),
    );
    await ingress.flush();
    let sent = 0;
    const stream = setInterval(
      () => worker.publish(`${ingress.subjects.reply('ingress', 'grant')}.data.1`, String(sent++)),
      2,
    );
    onTestFinished(() => clearInterval(stream));
    await until(() => received.length > 10);
    await changeAuthority(folder, (authority) => void revokeCredentials(authority, ({ name }) => name === 'joes-box'));
    await until(() => !revoked.connected, 1_000);
    await until(() => received.length > 300);
    clearInterval(stream);
    await worker.flush();
    await until(() => received.length === sent);
    expect(received).toEqual(received.map((_, index) => index));
    expect([ingress.connected, worker.connected, revoked.connected]).toEqual([true, true, false]);
  });

  it('keeps its ports and accepts the same credentials after its process has ended', async () => {
    const servers = await start(createFolder());
    const worker = await connect(servers.natsUrl, readOwn(servers, 'gpu'));
    const { nats, natsWebSocket } = servers.state.ports;
    const [child] = servers.children;
    child?.kill();
    await until(() => !worker.connected);
    await until(() => worker.connected);
    await connect(`ws://127.0.0.1:${natsWebSocket}`, readOwn(servers, 'gpu'));
    expect(servers.natsUrl).toBe(`nats://127.0.0.1:${nats}`);
  });

  it('is reloaded by nobody after the stop, and after another start has the revocations that were made meanwhile', async () => {
    const cluster = createFolder();
    const before = await start(cluster);
    const folder = before.natsAccess?.folder ?? '';
    const gpu = readOwn(before, 'gpu');
    await before.stop();
    expect(isReloaded(folder)).toBe(false);
    await changeAuthority(folder, (authority) => void revokeCredentials(authority, ({ name }) => name === 'gpu'));
    const after = await start(cluster);
    await expect(connect(after.natsUrl, gpu)).rejects.toThrow(/authorization/i);
    expect((await connect(after.natsUrl, readOwn(after, 'gpu'))).connected).toBe(true);
  });
});
