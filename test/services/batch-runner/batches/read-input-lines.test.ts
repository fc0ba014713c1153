import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { readInputLines } from '#services/batch-runner/batches/read-input-lines.ts';
import { HeavyWork, heavyBytes } from '#services/batch-runner/heavy-work.ts';

const heavy = () => new HeavyWork({ begin: () => Promise.resolve(0), end: () => Promise.resolve() });

it('this process reads one large line at a time, however many inputs have one', async () => {
  const parts = { heavyWork: heavy() };
  const read = [0, 0];
  const inputs = read.map((_, at) =>
    readInputLines(
      parts,
      `batch-${at}`,
      (async function* () {
        for (let piece = 0; piece < 8; piece += 1) {
          read[at] = (read[at] ?? 0) + 1;
          yield Buffer.alloc(heavyBytes / 2, 'x');
        }
        yield Buffer.from('\nshort\n');
      })(),
    ),
  );
  const [first, second] = inputs.map((lines) => lines.next());
  const line = (await first)?.value;
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  expect(line?.bytes).toHaveLength(4 * heavyBytes);
  // Its first bytes, until it counts as large.
  expect(read).toEqual([8, 2]);
  line?.heavyTask.end();
  const other = (await second)?.value;
  expect(other?.bytes).toHaveLength(4 * heavyBytes);
  expect((await inputs[0]?.next())?.value).toMatchObject({ number: 2, bytes: Buffer.from('short') });
});

it('a large blank line and an input that is left keep no other line waiting', async () => {
  const parts = { heavyWork: heavy() };
  const large = async function* (letter: string) {
    for (let piece = 0; piece < 4; piece += 1) yield Buffer.alloc(heavyBytes / 2, letter);
    yield await Promise.resolve(Buffer.from('\nshort'));
  };
  const blank = readInputLines(parts, 'blank', large(' '), { first: 5 });
  expect((await blank.next()).value).toMatchObject({ number: 6, bytes: Buffer.from('short') });
  const unreadable = async function* () {
    yield* [Buffer.alloc(heavyBytes, 'x')];
    await Promise.reject(new Error('The store is away.'));
  };
  await expect(readInputLines(parts, 'unreadable', unreadable()).next()).rejects.toThrow('away');
  expect((await readInputLines(parts, 'next', large('x')).next()).value?.bytes).toHaveLength(2 * heavyBytes);
});
