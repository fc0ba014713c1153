import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

/** Node's arguments for code with a JSON logger `log`. */
function programOf(code: string): string[] {
  const program = `
    import { createLog } from '#shared/core/log.ts';
    const log = createLog({ service: 'test', level: 'info', format: 'json' });
    ${code}`;
  return ['--input-type=module', '-e', program];
}

/** Runs code with a JSON logger `log` in a process of its own. Returns its log lines, however the process ended. */
async function linesOf(code: string): Promise<Record<string, unknown>[]> {
  const run = promisify(execFile)(process.execPath, programOf(code));
  const { stdout } = await run.catch((error: unknown) => error as { stdout: string });
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('the JSON log', () => {
  it('keeps every line of a process that ends by itself', async () => {
    const lines = await linesOf(`for (let count = 0; count < 1_000; count += 1) log.info({ count }, 'counted');`);
    expect(lines.map(({ count }) => count)).toEqual(Array.from({ length: 1_000 }, (_, count) => count));
  });

  it.each(['process.exit(1)', "throw new Error('a bug')"])('keeps the last line before %s', async (end) => {
    expect(await linesOf(`log.info('last'); ${end};`)).toMatchObject([{ msg: 'last', service: 'test' }]);
  });

  it('writes a line while the process runs', async () => {
    const child = spawn(process.execPath, programOf(`log.info('seen'); setInterval(() => undefined, 60_000);`));
    const [line] = await once(child.stdout, 'data');
    child.kill('SIGKILL');
    expect(String(line)).toContain('"msg":"seen"');
  });

  it('writes nothing while there are no lines', async () => {
    const lines = await linesOf(`
      import fs from 'node:fs';
      import { setTimeout as sleep } from 'node:timers/promises';
      const writes = [];
      const write = fs.write;
      fs.write = (...given) => (writes.push(given[1]), write(...given));
      await sleep(300);
      log.info('first');
      while (writes.length === 0) await sleep(20);
      await sleep(500);
      log.info({ writes: writes.length, first: writes[0] }, 'second');`);
    expect(lines).toMatchObject([{ msg: 'first' }, { writes: 1, first: expect.stringContaining('first') }]);
  });

  it('redacts fields that carry secrets', async () => {
    const [line] = await linesOf(`log.info({ key: 'rtr_a_b', authorization: 'Bearer c', requestId: 'd' }, 'hidden');`);
    expect(line).toMatchObject({ key: '[redacted]', authorization: '[redacted]', requestId: 'd' });
  });

  it('lets a process end if its reader is gone', async () => {
    const program = programOf(`process.on('message', () => (log.info('last'), process.exit(3)));`);
    const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'ignore', 'ipc'] });
    child.stdout?.destroy();
    child.send('end');
    expect(await once(child, 'exit')).toEqual([3, null]);
  });

  it('continues without a memory leak if its reader is gone', async () => {
    const program = programOf(`
      const held = () => { gc(); const { heapUsed, external } = process.memoryUsage(); return heapUsed + external; };
      const write = async () => {
        for (let turn = 0; turn < 200; turn += 1) {
          for (let line = 0; line < 500; line += 1) log.info({ turn, line }, 'x'.repeat(200));
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
      };
      await write();
      const before = held();
      await write();
      console.error(JSON.stringify({ grown: held() - before }));`);
    const child = spawn(process.execPath, ['--expose-gc', ...program], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    const result = JSON.parse(await text(child.stderr)) as { grown: number };
    // 100,000 lines have 28 MB.
    expect(result.grown).toBeLessThan(5_000_000);
  });
});
