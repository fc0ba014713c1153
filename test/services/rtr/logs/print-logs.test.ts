import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { createLineFormatter, printLogs } from '#services/rtr/logs/print-logs.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';
import { until } from '../../../helpers/until.ts';

let folder: string;

const line = (time: number, msg: string): string => JSON.stringify({ level: 30, time, service: 'x', msg });
const write = (name: string, ...lines: string[]): void =>
  writeFileSync(join(folder, name), lines.map((each) => `${each}\n`).join(''));

beforeEach(() => {
  folder = temporaryFolder();
  write('ingress.log.1', line(1, 'a'), line(2, 'b'));
  write('ingress.log', line(4, 'd'));
  write('gpu-worker-127.0.0.1-11434.log', line(3, 'c'), line(5, 'e'));
});

async function print(part?: string, lines = 100): Promise<string[]> {
  const printed: string[] = [];
  const stop = AbortSignal.abort();
  await printLogs({ folder, part, lines, follows: false, stop, print: (text) => printed.push(text) });
  return printed.map((text) => (JSON.parse(text) as { msg: string }).msg);
}

it('prints the lines of all parts in the order of their times', async () => {
  expect(await print()).toEqual(['a', 'b', 'c', 'd', 'e']);
});

it('prints the last lines of one part, also those from before its file was put aside', async () => {
  expect(await print('ingress', 2)).toEqual(['b', 'd']);
  expect(await print('gpu-worker')).toEqual(['c', 'e']);
  expect(await print('gpu-worker http://127.0.0.1:11434', 1)).toEqual(['e']);
  expect(await print('ingress', 0)).toEqual([]);
});

it('finds the last lines of a large file', async () => {
  write('ingress.log', ...Array.from({ length: 5_000 }, (_, i) => line(10 + i, `line ${i} ${'é'.repeat(60)}`)));
  const last = await print('ingress', 1_500);
  expect(last).toHaveLength(1_500);
  expect(last[0]).toMatch(/^line 3500 é+$/);
});

it('names the parts that have a log when there is none of the wanted one', async () => {
  await expect(print('ingres-2')).rejects.toThrow(
    'There is no log of ingres-2. There are those of gpu-worker-127.0.0.1-11434, ingress.',
  );
});

it('prints lines that are added, also into a new file and by a new part', async () => {
  const printed: string[] = [];
  const stop = new AbortController();
  const run = printLogs({
    folder,
    part: undefined,
    lines: 1,
    follows: true,
    stop: stop.signal,
    print: (text) => printed.push((JSON.parse(text) as { msg: string }).msg),
  });
  await until(() => expect(printed).toEqual(['e']));
  const added = line(6, 'f');
  appendFileSync(join(folder, 'ingress.log'), added.slice(0, 10));
  appendFileSync(join(folder, 'ingress.log'), `${added.slice(10)}\n`);
  await until(() => expect(printed).toEqual(['e', 'f']));
  renameSync(join(folder, 'ingress.log'), join(folder, 'ingress.log.1'));
  write('ingress.log', line(7, 'g'));
  write('redis.log', line(8, 'h'));
  await until(() => expect(printed).toEqual(['e', 'f', 'g', 'h']));
  stop.abort();
  await run;
});

it('formats a line for a person', () => {
  expect(createLineFormatter(false)(line(0, 'ready'))).toMatch(/^\[[\d:.]+\] INFO: x: ready$/);
});
