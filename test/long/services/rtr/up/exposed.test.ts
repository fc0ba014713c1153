import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { copyProject, type ProjectCopy } from '../../../../helpers/processes/project-copy.ts';
import { startProcess } from '../../../../helpers/processes/start-process.ts';
import { until } from '../../../../helpers/until.ts';

let project: ProjectCopy;

beforeAll(async () => void (project = await copyProject()));
afterAll(() => project.remove());

it('rtr up --expose serves clients and workers over HTTPS with a certificate that it keeps, and says who reaches what', async () => {
  const first = await project.up('--expose');
  await until(() => first.out.includes('Other machines reach this router at https://'));
  expect(first.out).toMatch(/\n {2}base URL {2}http:\/\/127\.0\.0\.1:/);
  const certificate = readFileSync(join(project.root, '.rtr/tls/tls.crt'), 'utf8');
  const dispatcher = new Agent({ connect: { ca: certificate, checkServerIdentity: () => undefined } });
  onTestFinished(() => dispatcher.destroy());
  const isHealthy = async (url: string) => (await fetch(`${url}/health`, { dispatcher })).ok;
  expect(await isHealthy(`https://127.0.0.1:${project.port}`)).toBe(true);
  expect(await isHealthy(`http://127.0.0.1:${project.port}`)).toBe(true);
  // An address of this machine that is not the one of a router for this machine alone.
  expect(await isHealthy(`https://127.0.0.2:${project.port}`)).toBe(true);
  const file = join(project.root, 'box.creds');
  await project.rtr('credentials', 'worker', '--tier', 'gpu', '--name', 'box', '--out', file).ended;
  appendFileSync(file, certificate);
  const { ports } = JSON.parse(readFileSync(join(project.root, '.rtr/cluster.json'), 'utf8')) as {
    ports: { demo: number };
  };
  const worker = startProcess('services/gpu-worker/main.ts', {
    NATS_URL: `wss://127.0.0.1:${project.port}/nats`,
    NATS_CREDENTIALS: file,
    ENGINE_URL: `http://127.0.0.1:${ports.demo}`,
    WORKER_ID: 'w1',
  });
  onTestFinished(async () => void (await worker.stop()));
  await until(() => first.err.includes('"box.w1"'));
  await project.rtr('credentials', 'revoke', 'box').ended;
  await worker.line('the broker refuses this credential');
  await project.down();
  const second = await project.up();
  expect(second.out).not.toContain('Other machines');
  await expect(isHealthy(`http://127.0.0.2:${project.port}`)).rejects.toThrow();
  expect(readFileSync(join(project.root, '.rtr/tls/tls.crt'), 'utf8')).toBe(certificate);
});
