import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { folderCommand } from '#services/console/web/pages/workers/folder-command.ts';
import { processIdentity } from '#shared/core/process-identity.mjs';
import { lockHolder } from '#shared/core/take-lock.mjs';
import { statusWith } from '../../../../helpers/clients/status-with.ts';
import { copyProject, type ProjectCopy } from '../../../../helpers/processes/project-copy.ts';
import type { RunningCommand } from '../../../../helpers/processes/run-command.ts';
import { until } from '../../../../helpers/until.ts';

/*
 * `rtr up` as a process, in a copy of the project, with real servers. The tests build on each other: a first start, then starts
 * with the data of the first.
 */

let project: ProjectCopy;
let cluster: RunningCommand;
let key: string;

beforeAll(async () => void (project = await copyProject()));
afterAll(() => project.remove());

const url = (): string => `http://127.0.0.1:${project.port}`;

describe('rtr up', () => {
  it('names a taken port before it starts anything', async () => {
    const other = createServer().listen(project.port, '127.0.0.1');
    await once(other, 'listening');
    const run = project.rtr('up');
    expect(await run.ended).toBe(1);
    const { port } = project;
    const advice = `stop that, or choose another port, as in PORT=${port + 1} rtr up.`;
    expect(run.err).toBe(`Port ${port} is taken by another program: ${advice}\n`);
    expect(existsSync(join(project.root, '.rtr/nats'))).toBe(false);
    other.close();
    await once(other, 'close');
  });

  it('prints at the first start a request that works when pasted, with a key shown only then', async () => {
    cluster = await project.up();
    key = /rtr_\w+/.exec(cluster.out)?.[0] ?? '';
    expect(await ask(cluster.out)).toMatchObject({ object: 'chat.completion', choices: [{ finish_reason: 'stop' }] });
    expect(statSync(join(project.root, '.rtr/cluster.json')).mode & 0o777).toBe(0o600);
    expect(cluster.err).not.toContain(key);
    const [, link = ''] = / {2}console {3}(\S+)\n/.exec(cluster.out) ?? [];
    expect(link).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${project.port}/link/[\\w-]{43}$`));
    const answer = await fetch(link.replace('/link/', '/console/api/links/'));
    expect(await answer.json()).toEqual({ kind: 'first-admin' });
  });

  it('refuses to run twice in one folder', async () => {
    const second = project.rtr('up');
    expect(await second.ended).toBe(1);
    expect(second.err).toMatch(/^A cluster runs in this folder already: stop it first, .* kill \d+\.\n$/);
  });

  it('is found by the other commands of its folder', async () => {
    const created = project.rtr('keys', 'create', '--name', 'second', '--json');
    await created.ended;
    const schema = z.object({ raw: z.string(), key: z.object({ id: z.string() }) });
    const { raw: second, key } = schema.parse(JSON.parse(created.out));
    expect(await statusWith(url(), second)).toBe(200);
    await project.rtr('keys', 'revoke', key.id).ended;
    expect(await statusWith(url(), second)).toBe(401);
  });

  it('is described by `rtr status`, with its parts, workers and models', async () => {
    const run = project.rtr('status', '--json');
    expect(await run.ended).toBe(0);
    expect(JSON.parse(run.out)).toMatchObject({
      running: true,
      baseUrl: url(),
      parts: expect.arrayContaining([expect.objectContaining({ name: 'ingress', pid: expect.any(Number) })]),
      workers: expect.arrayContaining([expect.objectContaining({ tier: 'gpu', state: 'serving' })]),
      models: expect.arrayContaining(['demo']),
      problems: [],
    });
    const shown = project.rtr('status');
    await shown.ended;
    expect(shown.out).toMatch(/ {2}console {3}\S+\/link\/[\w-]{43}\n/);
  });

  it('keeps the logs of its parts for `rtr logs`', async () => {
    const run = project.rtr('logs', 'ingress', '--lines', '500');
    expect(await run.ended).toBe(0);
    expect(run.out.split('\n').filter((line) => line.includes('"msg":"request served"'))).toHaveLength(1);
  });

  it('is joined by a worker that the command of the console starts in its folder', async () => {
    const [, address, words = ''] = /^ENGINE_URL=(\S+) rtr (.+)$/.exec(folderCommand) ?? [];
    expect(address).toMatch(/^http:/);
    const demo = JSON.parse(read('cluster.json')) as { ports: { demo: number } };
    const engine = { ENGINE_URL: `http://127.0.0.1:${demo.ports.demo}`, WORKER_ID: 'by-hand' };
    const worker = project.rtrWith(engine, ...words.split(' '));
    await until(() => cluster.err.includes('by-hand'));
    worker.child.kill('SIGTERM');
    await worker.ended;
  });

  it('joins a worker with a credential of its own, which is gone within a second once that is revoked, and no stream breaks', async () => {
    const file = join(project.root, 'joes-box.creds');
    await project.rtr('credentials', 'worker', '--tier', 'gpu', '--name', 'joes-box', '--out', file).ended;
    const { ports } = z.object({ ports: z.object({ demo: z.number() }) }).parse(JSON.parse(read('cluster.json')));
    const engine = { ENGINE_URL: `http://127.0.0.1:${ports.demo}`, WORKER_ID: 'w1' };
    const worker = project.rtrWith(engine, 'worker', 'gpu', '--credentials', file);
    await until(() => cluster.err.includes('joes-box.w1'));
    const streams = await Promise.all(Array.from({ length: 4 }, () => openStream()));
    const revoke = project.rtr('credentials', 'revoke', 'joes-box');
    expect(await revoke.ended).toBe(0);
    expect(revoke.out).toBe('joes-box is revoked.\n');
    await until(
      () => worker.err.includes('broker connection lost') || worker.out.includes('broker connection lost'),
      1_000,
    );
    for (const text of await Promise.all(streams.map((stream) => stream.text())))
      expect(text).toContain('data: [DONE]');
    worker.child.kill('SIGTERM');
    await worker.ended;
  });

  it('is examined by the doctor with its own credential', async () => {
    const doctor = project.rtr('doctor', '--json');
    await doctor.ended;
    expect(JSON.parse(doctor.out)).toContainEqual({
      subject: 'credential',
      state: 'ok',
      detail: 'ingress, for ingress: the broker accepts it',
    });
  });

  it('restarts a part that dies', async () => {
    const nats = children().find(({ name }) => name === 'nats')?.pid ?? 0;
    process.kill(nats, 'SIGKILL');
    await until(() => cluster.err.includes('nats was ended by SIGKILL: it is started again'));
    await until(() => isWhole() && !childPids().includes(nats));
    await until(async () => expect(await statusWith(url(), key)).toBe(200));
  });

  it("restarts the ingress on another port for operators, where a program has taken the ingress's", async () => {
    const [, metrics = ''] = /(http:\/\/127\.0\.0\.1:\d+)\/metrics/.exec(cluster.out) ?? [];
    expect((await fetch(`${metrics}/health`)).status).toBe(200);
    const ingress = children().find(({ name }) => name === 'ingress')?.pid ?? 0;
    process.kill(ingress, 'SIGKILL');
    const other = createServer();
    // As soon as the one that was killed has left it, before the next one is started.
    await until(async () => {
      other.listen(Number(new URL(metrics).port), '127.0.0.1');
      await once(other, 'listening');
    });
    await until(() => isWhole() && !childPids().includes(ingress));
    await until(async () => expect(await statusWith(url(), key)).toBe(200));
    other.close();
    await once(other, 'close');
  });

  it('leaves no process behind after Ctrl-C, and ends with exit code 0', async () => {
    const pids = childPids();
    expect(isWhole()).toBe(true);
    cluster.child.kill('SIGINT');
    expect(await cluster.ended).toBe(0);
    expect(cluster.out).toMatch(/\nStopped\.\n$/);
    expect(pids.filter(processIdentity)).toEqual([]);
    expect(await project.rtr('status').ended).toBe(3);
  });

  it('refuses a start with another prefix, for which its credentials are not', async () => {
    const run = project.rtrWith({ RTR_PREFIX: 'other' }, 'up');
    expect(await run.ended).toBe(1);
    expect(run.err).toContain(
      'has the credentials of the cluster rtr, but RTR_PREFIX is other: set RTR_PREFIX=rtr, or',
    );
  });

  it('starts again with the same key and the same ports', async () => {
    const before = read('cluster.json');
    cluster = await project.up();
    expect(cluster.out).not.toContain(key);
    expect(cluster.out).toContain(key.slice(-4));
    expect(await ask(cluster.out.replace('$RTR_KEY', key))).toMatchObject({ object: 'chat.completion' });
    expect(JSON.parse(read('cluster.json'))).toEqual(JSON.parse(before));
  });

  it('leaves no process behind when it is killed, and starts again with its data', async () => {
    const pids = childPids();
    process.kill(z.number().parse(lockHolder(join(project.root, '.rtr/up.lock'))), 'SIGKILL');
    await cluster.ended;
    await project.up();
    expect(pids.filter(processIdentity)).toEqual([]);
    expect(await statusWith(url(), key)).toBe(200);
  });
});

/** Does what the printed curl line does. */
async function ask(printed: string): Promise<unknown> {
  const [, url = ''] = /curl (\S+)/.exec(printed) ?? [];
  const [, authorization = ''] = /"Authorization: (.*?)"/.exec(printed) ?? [];
  const [, body = ''] = /-d '(.*)'/.exec(printed) ?? [];
  const headers = { authorization, 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body });
  return answer.json();
}

/** Opens a stream that lasts for about two seconds. */
function openStream(): Promise<Response> {
  const messages = [{ role: 'user', content: 'Go on.\n[demo tokens=100 rate=50]' }];
  return fetch(`${url()}/api/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'auto', stream: true, messages }),
  });
}

function children(): { name: string; pid: number }[] {
  return z.array(z.object({ name: z.string(), pid: z.number() })).parse(JSON.parse(read('children.json')));
}

const childPids = (): number[] => children().map(({ pid }) => pid);

function isWhole(): boolean {
  const parts = ['batch-runner', 'demo-engine', 'gpu-worker', 'ingress', 'nats', 'redis', 'tools-worker'];
  const names = children().map(({ name }) => name.split(' ')[0]);
  return parts.every((part) => names.includes(part)) && names.length === parts.length;
}

function read(file: string): string {
  return readFileSync(join(project.root, '.rtr', file), 'utf8');
}
