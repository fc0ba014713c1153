import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { copyProject, type ProjectCopy } from '../../../../helpers/processes/project-copy.ts';
import { until } from '../../../../helpers/until.ts';

let project: ProjectCopy;

beforeAll(async () => void (project = await copyProject()));
afterAll(() => project.remove());

it('rtr up --expose serves HTTPS and HTTP to other machines with a certificate that it keeps, and says who reaches what', async () => {
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
  await project.down();
  const second = await project.up();
  expect(second.out).not.toContain('Other machines');
  await expect(isHealthy(`http://127.0.0.2:${project.port}`)).rejects.toThrow();
  expect(readFileSync(join(project.root, '.rtr/tls/tls.crt'), 'utf8')).toBe(certificate);
});
