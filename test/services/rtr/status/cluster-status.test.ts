import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { formatDuration, formatStatus, type ClusterStatus } from '#services/rtr/status/cluster-status.ts';
import { findProblems } from '#services/rtr/status/find-problems.ts';
import { printStatus } from '#services/rtr/status/status-command.ts';
import { readParts, recordChildren } from '#services/rtr/up/children/running-children.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';

const baseUrl = 'http://127.0.0.1:8484';
const now = 10_000_000;
const ingress = { name: 'ingress', pid: 12, startedAt: now - 7_500_000, end: undefined };
const status: ClusterStatus = {
  version: '1.0.0',
  pid: 11,
  baseUrl,
  chatFormat: 'openai',
  consoleUrl: baseUrl,
  keys: ['rtr_a…b'],
  parts: [ingress, { name: 'cloud-worker openai', pid: 13, startedAt: now, end: 'ended with exit code 1' }],
  workers: [
    { id: 'joes-box', tier: 'gpu', state: 'serving' },
    { id: 'gpu-2', tier: 'gpu', state: 'serving' },
  ],
  models: Array.from({ length: 300 }, (_, i) => `m${i}`),
  problems: [],
};

it('shows what runs, at which addresses, in at most a screen', () => {
  const lines = formatStatus(status, now).split('\n');
  expect(lines.length).toBeLessThanOrEqual(20);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
  expect(lines).toEqual(
    expect.arrayContaining([
      'Model Router 1.0.0 is running (process 11).',
      '  base URL  http://127.0.0.1:8484/api/openai     for OpenAI clients',
      '  console   http://127.0.0.1:8484',
      '  parts     ingress              process 12, for 2 h 5 min',
      '            cloud-worker openai  ended with exit code 1',
      '  workers   gpu    joes-box, gpu-2',
      '  models    m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11 and 288 more',
      '  problems  none',
    ]),
  );
});

it('formats durations in two units at most', () => {
  expect([5_000, 65_000, 7_500_000, 90_000_000].map(formatDuration)).toEqual(['5 s', '1 min', '2 h 5 min', '1 d 1 h']);
});

it('reports a cluster that does not run with the exit code of systemctl', async () => {
  const lines: string[] = [];
  const never = () => Promise.reject(new Error('no cluster'));
  const parts = {
    folder: temporaryFolder(),
    json: false,
    chatFormat: 'openai',
    runOnAdminApi: never,
    runOnKeyStore: never,
  };
  expect(await printStatus({ ...parts, print: (line) => lines.push(line) })).toBe(3);
  expect(lines).toEqual([expect.stringMatching(/^Model Router is not running here/)]);
});

it('lists a problem of a part until the part has logged its end', () => {
  const logFolder = temporaryFolder();
  const write = (time: number, level: number, msg: string) =>
    appendFileSync(join(logFolder, 'ingress.log'), `${JSON.stringify({ level, time, msg, reason: 'x' })}\n`);
  const facts = { baseUrl, logFolder, parts: [ingress], counts: { gpu: 1, cli: 0, cloud: 0 }, workers: [] };
  write(ingress.startedAt - 1, 50, 'redis refuses writes');
  write(now, 40, 'redis is away');
  write(now, 40, 'job goes to another worker');
  expect(findProblems(facts)).toEqual(['ingress: redis is away (x)']);
  write(now, 30, 'redis is back');
  expect(findProblems(facts)).toEqual([]);
});

it('names ended parts, a silent router, missing workers, and workers that take no jobs', () => {
  const facts = { baseUrl, logFolder: temporaryFolder(), parts: [], workers: [] };
  expect(findProblems({ ...facts, counts: undefined })).toEqual([`the router does not answer at ${baseUrl}`]);
  const workers = [{ id: 'gpu-1', tier: 'gpu', state: 'failing', reason: 'failing: upstream_failed' }];
  const counts = { gpu: 0, cli: 0, cloud: 0 };
  expect(findProblems({ ...facts, parts: status.parts.slice(1), counts, workers })).toEqual([
    'cloud-worker openai ended with exit code 1: rtr logs "cloud-worker openai"',
    'no worker serves',
    'worker gpu-1 is failing (failing: upstream_failed)',
  ]);
});

it('reads how parts ended, and records of the release before', () => {
  const folder = temporaryFolder();
  recordChildren(folder, [
    { name: 'ingress', pid: process.pid, startedAt: 5 },
    { name: 'redis', pid: process.pid, startedAt: 5, end: 'was ended by SIGKILL' },
  ]);
  expect(readParts(folder)).toEqual([
    { name: 'ingress', pid: process.pid, startedAt: 5, end: undefined },
    { name: 'redis', pid: process.pid, startedAt: 5, end: 'was ended by SIGKILL' },
  ]);
  writeFileSync(join(folder, 'children.json'), JSON.stringify([{ name: 'nats', pid: process.pid, identity: 'other' }]));
  expect(readParts(folder)).toEqual([{ name: 'nats', pid: process.pid, startedAt: undefined, end: 'has ended' }]);
});
