import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';

const hourMs = 3_600_000;

/** A program that reports its times on request. */
const program = `process.on('message', () => setImmediate(() =>
  process.send([Date.now(), new Date().getTime(), Date.parse(Date()), performance.now(), new Date(5).getTime(),
    Number(new Date(2020, 0) instanceof Date)])));`;

it('the preloaded clock shifts every way to read the date, but neither given dates nor measured durations', async () => {
  const preload = new URL('shift-clock.ts', import.meta.url).href;
  const child = spawn(process.execPath, ['--import', preload, '-e', program], { stdio: ['ignore', 2, 2, 'ipc'] });
  onTestFinished(() => void child.kill());
  const ask = async (shiftClockMs: number): Promise<number[]> => {
    child.send({ shiftClockMs });
    const [times] = (await once(child, 'message')) as [number[]];
    return times;
  };
  const right = await ask(0);
  for (const shift of [hourMs, -hourMs, 0]) {
    const [now = 0, made = 0, told = 0, measured = 0, given, isDate] = await ask(shift);
    for (const time of [now, made, told]) expect(Math.abs(time - Date.now() - shift)).toBeLessThan(10_000);
    expect(measured - (right[3] ?? 0)).toBeLessThan(10_000);
    expect([given, isDate]).toEqual([5, 1]);
  }
});
