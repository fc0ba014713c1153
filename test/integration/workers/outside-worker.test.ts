import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect as connectTcp, type AddressInfo } from 'node:net';
import { createServer as createTlsServer, type Server, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { parseCredential } from '#shared/broker/connection/credential.ts';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { makeCertificates } from '../../helpers/servers/make-certificates.ts';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { useFolder } from '../../helpers/files/temporary-folder.ts';
import { silentLog as log } from '../../helpers/silent-log.ts';
import { until } from '../../helpers/until.ts';
import { startProcess } from '../../helpers/processes/start-process.ts';
import { startSecuredNats, type SecuredNats } from '../../helpers/servers/start-secured-nats.ts';
import { slowCat } from '../../helpers/cluster/worker-settings.ts';

const prefix = 'outside';
/** Addresses of the two ends of the link between the cluster's network and the other one. */
const [inside, outside] = ['10.213.77.1', '10.213.77.2'];
const other = `rtr-test-${process.pid}`;

const folder = useFolder();
let nats: SecuredNats;
let cluster: Cluster;
/** An HTTPS balancer in front of NATS' WebSocket. */
let balancer: Server;
const passing = new Set<TLSSocket>();

beforeAll(async () => {
  const { ca, caFile, certFile, keyFile } = makeCertificates(folder, ['127.0.0.1', inside]);
  const wsPort = await findFreePort();
  nats = await startSecuredNats({
    prefix,
    ca,
    host: '0.0.0.0',
    config: [
      `tls { cert_file: "${certFile}", key_file: "${keyFile}" }`,
      `websocket { listen: "127.0.0.1:${wsPort}", no_tls: true }`,
    ],
  });
  balancer = createTlsServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (socket) => {
    const upstream = connectTcp(wsPort, '127.0.0.1');
    passing.add(socket);
    socket.on('close', () => passing.delete(socket));
    socket.pipe(upstream).pipe(socket);
    for (const [one, end] of [
      [socket, upstream],
      [upstream, socket],
    ] as const)
      one.on('error', () => end.destroy()).on('close', () => end.destroy());
  });
  balancer.listen(0, '0.0.0.0');
  await once(balancer, 'listening');
  cluster = await startCluster({
    prefix,
    natsUrl: `tls://127.0.0.1:${nats.port}`,
    // Set explicitly, as for credentials that do not contain it.
    ingress: { NATS_CREDENTIALS: nats.files.ingress, NATS_CA: caFile },
    workers: 0,
    engineUrl: 'http://127.0.0.1:9',
  });
});

afterAll(async () => {
  await cluster.stop();
  balancer.close();
  await nats.stop();
});

async function askFor(model: string): Promise<{ status: number; worker: string | null }> {
  const answer = await post({ ...cluster, body: { model, messages: [{ role: 'user', content: 'Hello.' }] } });
  await answer.text();
  return { status: answer.status, worker: answer.headers.get('x-rtr-worker') };
}

const balancerPort = (): number => (balancer.address() as AddressInfo).port;

describe('a worker behind an HTTPS balancer', () => {
  it('joins over a WebSocket, with one address and one file', async () => {
    const file = await nats.issue({ role: 'cli', name: 'behind-https' });
    const worker = startProcess(
      'services/rtr/main.ts',
      { ...slowCat(), NATS_URL: `wss://127.0.0.1:${balancerPort()}`, NATS_CREDENTIALS: file, WORKER_ID: 'w1' },
      ['worker', 'cli'],
    );
    onTestFinished(async () => void (await worker.stop()));
    await worker.line('cli-worker is ready');
    await until(async () => (await askFor('cat')).status === 200);
    expect(await askFor('cat')).toEqual({ status: 200, worker: 'behind-https.w1' });
    // As a balancer does that restarts or closes an idle connection.
    for (const socket of passing) socket.destroy();
    await worker.line('broker connection is back');
    await until(async () => (await askFor('cat')).status === 200);
  });
});

describe('the broker behind a private authority', () => {
  const connect = (url: string, ca = true) => {
    const whole = parseCredential(readFileSync(nats.files.tools, 'utf8'));
    const credential = ca ? whole : { ...whole, ca: undefined };
    return connectBroker({ url, credential, name: 'test', prefix, log, waitMs: 0 });
  };

  it('is not trusted by a worker without its authority', async () => {
    await expect(connect(`tls://127.0.0.1:${nats.port}`, false)).rejects.toThrow(/certificate/);
    await expect(connect(`wss://127.0.0.1:${balancerPort()}`, false)).rejects.toThrow();
    const broker = await connect(`tls://127.0.0.1:${nats.port}`);
    await broker.close();
  });

  it('is refused without TLS by a worker that requires TLS', async () => {
    const plain = await startSecuredNats({ prefix });
    onTestFinished(() => plain.stop());
    await expect(connect(`nats://127.0.0.1:${plain.port}`)).rejects.toThrow(/tls/i);
    await expect(connect(`tls://127.0.0.1:${plain.port}`, false)).rejects.toThrow(/tls/i);
    await expect(connect(`ws://127.0.0.1:${plain.port}`)).rejects.toThrow('use wss://');
  });
});

describe('a worker in another network', { tags: ['networks'] }, () => {
  it('joins through TLS with one address and one file, and serves', async () => {
    const ip = (...args: string[]): void => void execFileSync('ip', args, { stdio: 'pipe' });
    const cable = `rtr${process.pid % 100_000}`;
    ip('netns', 'add', other);
    onTestFinished(() => ip('netns', 'del', other));
    ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'up0', 'netns', other);
    ip('addr', 'add', `${inside}/30`, 'dev', cable);
    ip('link', 'set', cable, 'up');
    ip('-n', other, 'addr', 'add', `${outside}/30`, 'dev', 'up0');
    ip('-n', other, 'link', 'set', 'up0', 'up');
    ip('-n', other, 'link', 'set', 'lo', 'up');
    const file = await nats.issue({ role: 'cli', name: 'far-away', validMs: 3_600_000 });
    const where = ['--nats', `tls://${inside}:${nats.port}`, '--credentials', file];
    const worker = inOther(process.execPath, 'services/rtr/main.ts', 'worker', 'cli', ...where);
    onTestFinished(async () => {
      const gone = once(worker, 'exit');
      worker.kill('SIGTERM');
      await gone;
    });
    await until(async () => (await askFor('far-cat')).status === 200);
    expect(await askFor('far-cat')).toEqual({ status: 200, worker: 'far-away.w1' });
  });
});

/** Runs a program in the other network, with the minimal settings of a worker. */
function inOther(...command: string[]): ChildProcess {
  return spawn('ip', ['netns', 'exec', other, ...command], {
    stdio: 'ignore',
    env: {
      PATH: process.env['PATH'],
      CLI_KIND: 'command',
      CLI_COMMAND: `${process.execPath} ${process.cwd()}/test/helpers/processes/slow-cat.mjs 0`,
      CLI_MODELS: 'far-cat',
      WORKER_ID: 'w1',
      LOG_FORMAT: 'json',
    },
  });
}
