import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LogFile } from '#services/rtr/logs/log-file.ts';
import { LogFolder } from '#services/rtr/logs/log-folder.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';

const fail = (error: unknown): void => {
  throw error;
};

it('keeps the lines of each part in a file that only its owner can read', () => {
  const folder = join(temporaryFolder(), 'logs');
  const logs = new LogFolder(folder, fail);
  logs.write('gpu-worker http://127.0.0.1:11434', '{"msg":"a"}');
  logs.write('../ingress', '{"msg":"b"}');
  logs.flush();
  const file = join(folder, 'gpu-worker-127.0.0.1-11434.log');
  expect(readFileSync(file, 'utf8')).toBe('{"msg":"a"}\n');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(folder, '..-ingress.log'), 'utf8')).toBe('{"msg":"b"}\n');
});

it('begins a new file when one is full, and keeps the one before', () => {
  const path = join(temporaryFolder(), 'ingress.log');
  const file = new LogFile(path, { maxBytes: 25, onRotated: () => undefined, onFailure: fail });
  for (const line of ['first line', 'second line', 'third line', 'fourth line']) {
    file.write(line);
    file.flush();
  }
  expect(readFileSync(path, 'utf8')).toBe('third line\nfourth line\n');
  expect(readFileSync(`${path}.1`, 'utf8')).toBe('first line\nsecond line\n');
});

it('deletes the oldest files when all together are too large', () => {
  const folder = temporaryFolder();
  mkdirSync(folder, { recursive: true });
  for (const [name, age] of [
    ['cloud-worker-old.log', 300],
    ['ingress.log.1', 200],
    ['redis.log', 100],
  ] as const) {
    writeFileSync(join(folder, name), 'x'.repeat(40));
    const time = Date.now() / 1_000 - age;
    utimesSync(join(folder, name), time, time);
  }
  writeFileSync(join(folder, 'notes.txt'), 'x'.repeat(400));
  const logs = new LogFolder(folder, fail, 90);
  logs.write('ingress', 'line');
  logs.flush();
  expect(
    ['cloud-worker-old.log', 'ingress.log.1', 'redis.log', 'notes.txt'].map((name) => existsSync(join(folder, name))),
  ).toEqual([false, true, true, true]);
});

it('reports lines that cannot be written', () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  const failures: unknown[] = [];
  const logs = new LogFolder(join(file, 'logs'), (error) => failures.push(error));
  logs.write('ingress', 'line');
  logs.flush();
  expect(failures).toHaveLength(1);
});
