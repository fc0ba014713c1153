import { once } from 'node:events';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, WebSocket } from 'undici';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { makeCertificate } from '#services/rtr/up/tls/make-certificate.ts';
import { listTlsFiles, type ServerCertificate } from '#shared/core/tls/tls-folder.ts';
import { askText } from '../../helpers/clients/streamed-text.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { useFolder } from '../../helpers/files/temporary-folder.ts';
import { startProcess, type ServiceProcess } from '../../helpers/processes/start-process.ts';
import { startSecuredNats, type SecuredNats } from '../../helpers/servers/start-secured-nats.ts';
import { until } from '../../helpers/until.ts';

const prefix = 'joined';
const tlsFolder = join(useFolder(), 'tls');
const certificate = makeCertificate(new Date());
let nats: SecuredNats;
let cluster: Cluster;
let ingress: ServiceProcess;
let port: number;

beforeAll(async () => {
  const wsPort = await findFreePort();
  port = await findFreePort();
  nats = await startSecuredNats({ prefix, config: [`websocket { listen: "127.0.0.1:${wsPort}", no_tls: true }`] });
  writeCertificate(certificate);
  cluster = await startCluster({
    prefix,
    natsUrl: `nats://127.0.0.1:${nats.port}`,
    ingress: {
      PORT: String(port),
      NATS_CREDENTIALS: nats.files.ingress,
      NATS_RELAY_URL: `ws://127.0.0.1:${wsPort}`,
      TLS_FOLDER: tlsFolder,
      DRAIN_MS: '5000',
    },
    workers: 0,
  });
  ({ ingress } = cluster);
});

afterAll(async () => {
  await ingress.stop();
  await cluster.stop();
  await nats.stop();
});

function writeCertificate({ cert, key }: ServerCertificate): void {
  const { certFile, keyFile } = listTlsFiles(tlsFolder);
  mkdirSync(tlsFolder, { recursive: true });
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
}

async function restartIngress(): Promise<void> {
  await ingress.stop();
  ({ process: ingress } = await cluster.addIngress());
}

/** Starts a worker that has one address and one file. */
async function startWorker(name: string): Promise<ServiceProcess> {
  const file = await nats.issue({ role: 'gpu', name });
  appendFileSync(file, `\n${certificate.cert}`);
  const settings = { NATS_URL: `wss://127.0.0.1:${port}/nats`, NATS_CREDENTIALS: file, ENGINE_URL: cluster.engineUrl };
  const worker = startProcess('services/gpu-worker/main.ts', { ...settings, WORKER_ID: 'w1' });
  onTestFinished(async () => void (await worker.stop()));
  return worker;
}

const ask = (options: { prompt?: string; onText?: () => void } = {}) =>
  askText({ url: `http://127.0.0.1:${port}`, key: cluster.key, format: 'chat', prompt: 'Hi!', ...options });

const isServed = async () => (await ask()).status === 200;

it('a worker joins through the HTTPS port of the ingress, and serves on when NATS and the ingress restart', async () => {
  const worker = await startWorker('box');
  await worker.line('gpu-worker is ready');
  await until(isServed);
  let restarted: Promise<void> | undefined;
  const prompt = 'Hi!\n[demo tokens=60 rate=30]';
  const answer = await ask({ prompt, onText: () => void (restarted ??= nats.restart()) });
  await restarted;
  expect(answer).toMatchObject({ status: 200, error: undefined, finish: 'stop' });
  expect(answer.headers.get('x-rtr-worker')).toBe('box.w1');
  await until(isServed);
  let stopped: Promise<unknown> | undefined;
  // The ingress keeps the worker's connection until its own answers have ended.
  const last = await ask({ prompt, onText: () => void (stopped ??= ingress.stop()) });
  expect(last).toMatchObject({ status: 200, error: undefined, finish: 'stop' });
  expect(await stopped).toBe(0);
  await restartIngress();
  await until(isServed);
  expect(worker.lines.filter(({ msg }) => msg === 'broker connection is back').length).toBeGreaterThan(1);
});

it('a worker refuses another certificate, says why, tries again slowly, and comes back with the one that it knows', async () => {
  const worker = await startWorker('strict');
  await worker.line('gpu-worker is ready');
  writeCertificate(makeCertificate(new Date()));
  await restartIngress();
  const { reason } = await worker.line('the broker is not trusted');
  expect(reason).toMatch(/^127\.0\.0\.1:\d+ shows another certificate than the one in the credential: /);
  const stranger = await startWorker('stranger');
  await stranger.line('the broker is not trusted');
  await once(stranger.child, 'exit');
  writeCertificate(certificate);
  await restartIngress();
  const { time: backAt } = await worker.line('broker connection is back');
  const refusals = worker.lines.filter(({ msg }) => msg === 'the broker is not trusted');
  expect(Number(backAt) - Number(refusals.at(-1)?.['time'])).toBeGreaterThanOrEqual(5_000);
});

it('whoever has no credential is disconnected by NATS within the seconds that the relay counts on', async () => {
  const dispatcher = new Agent({ connect: { ca: certificate.cert, checkServerIdentity: () => undefined } });
  onTestFinished(() => dispatcher.destroy());
  const socket = new WebSocket(`wss://127.0.0.1:${port}/nats`, { dispatcher });
  await once(socket as unknown as EventTarget, 'message');
  const openedAt = performance.now();
  await once(socket as unknown as EventTarget, 'close');
  expect(performance.now() - openedAt).toBeLessThan(5_000);
});
