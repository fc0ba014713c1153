import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { serviceNodeFlags } from '#services/rtr/bootstrap/service-node-flags.mjs';

/** Has V8 rest soon, and take a single collection for long enough to throw code away. */
const restSoon = ['--gc-memory-reducer-start-delay-ms=100', '--memory-saver-mode', '--stress-flush-code'];

/** Tells of before and after a rest whether code that ran once is still there, and whether compiled code still is. */
const program = `
const { PerformanceObserver, constants } = require('node:perf_hooks');
const isLazy = 1 << 18, isCompiled = 1 << 4;
const ranOnce = new Function('a', 'return a + 1');
ranOnce(1);
// An object of a literal would keep its shape.
const parse = (first) => JSON.parse('{"first":' + first + ',"second":2}');
const read = (object) => object.first + object.second;
%PrepareFunctionForOptimization(read);
for (let count = 0; count < 100; count++) read(parse(count));
%OptimizeFunctionOnNextCall(read);
read(parse(1));
const look = () => ({
  code: (%GetOptimizationStatus(ranOnce) & isLazy) === 0,
  compiled: (%GetOptimizationStatus(read) & isCompiled) !== 0,
});
const before = look();
// So much is a reason to collect in the rest; what is thrown away is gone after the first full collection.
globalThis.held = Array.from({ length: 200_000 }, (_, index) => [index]);
const wait = setTimeout(() => {}, 60_000);
new PerformanceObserver((list) => {
  if (!list.getEntries().some(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR)) return;
  clearTimeout(wait);
  console.log(JSON.stringify({ before, after: look() }));
}).observe({ type: 'gc' });
`;

describe('a service that rests', () => {
  it('keeps its code, which Node would throw away', async () => {
    const all = { code: true, compiled: true };
    const [told, untold] = await Promise.all([rest(serviceNodeFlags), rest([])]);
    expect(told).toEqual({ before: all, after: all });
    expect(untold).toEqual({ before: all, after: { code: false, compiled: false } });
  });
});

async function rest(flags: readonly string[]): Promise<unknown> {
  const words = ['--allow-natives-syntax', ...restSoon, ...flags, '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, words, { timeout: 15_000 });
  return JSON.parse(stdout);
}
