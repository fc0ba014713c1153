import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { serviceNodeFlags } from '#services/rtr/bootstrap/service-node-flags.mjs';

/** Makes V8 reach its idle state soon, and discard code at the first collection. */
const restSoon = ['--gc-memory-reducer-start-delay-ms=100', '--memory-saver-mode', '--stress-flush-code'];

/** A program that reports whether code that ran once, and compiled code, exist before and after an idle phase. */
const program = `
const { PerformanceObserver, constants } = require('node:perf_hooks');
const isLazy = 1 << 18, isCompiled = 1 << 4;
const ranOnce = new Function('a', 'return a + 1');
ranOnce(1);
// An object literal would keep its shape alive.
const parse = (first) => JSON.parse('{"first":' + first + ',"second":2}');
const read = (object) => object.first + object.second;
%PrepareFunctionForOptimization(read);
for (let count = 0; count < 100; count++) read(parse(count));
%OptimizeFunctionOnNextCall(read);
read(parse(1));
const look = () => ({ code: (%GetOptimizationStatus(ranOnce) & isLazy) === 0,
  compiled: (%GetOptimizationStatus(read) & isCompiled) !== 0,
});
const before = look();
// Enough garbage for a collection while idle; discarded code is gone after the first full collection.
globalThis.held = Array.from({ length: 200_000 }, (_, index) => [index]);
const wait = setTimeout(() => {}, 60_000);
new PerformanceObserver((list) => {
  if (!list.getEntries().some(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR)) return;
  clearTimeout(wait);
  console.log(JSON.stringify({ before, after: look() }));
}).observe({ type: 'gc' });
`;

/** A program that prints the maximum MiB that unreferenced buffers take at once. */
const reading = `
let most = 0;
for (let count = 0; count < 20000; count++) {
  new ArrayBuffer(64 * 1024);
  if (count % 16 === 0) most = Math.max(most, process.memoryUsage().arrayBuffers);
}
console.log(most / 1024 ** 2);
`;

it('an idle service keeps its code, which Node would discard', { timeout: 80_000 }, async () => {
  const all = { code: true, compiled: true };
  const rest = (flags: readonly string[]) => run(['--allow-natives-syntax', ...restSoon, ...flags], program);
  const [withFlags, withoutFlags] = await Promise.all([rest(serviceNodeFlags), rest([])]);
  expect(withFlags).toEqual({ before: all, after: all });
  expect(withoutFlags).toEqual({ before: all, after: { code: false, compiled: false } });
});

it('buffers that were read take less than 32 MiB until they are collected, and far more without the flags', async () => {
  const [withFlags, withoutFlags] = await Promise.all([run(serviceNodeFlags, reading), run([], reading)]);
  expect(withFlags).toBeLessThan(32);
  expect(withoutFlags).toBeGreaterThan(45);
});

async function run(flags: readonly string[], code: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, '--eval', code], { timeout: 60_000 });
  return JSON.parse(stdout);
}
