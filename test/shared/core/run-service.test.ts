import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

/** A service that waits in its start, until it is stopped. */
const waiting = `
  import { setTimeout as sleep } from 'node:timers/promises';
  import { runService } from '#shared/core/run-service.ts';
  await runService(async (_, releases) => {
    releases.add('what takes a moment', () => sleep(50));
    const given = new AbortController();
    releases.add('waiting', () => given.abort());
    process.stdout.write('waiting');
    await sleep(60_000, undefined, { signal: given.signal });
  });
`;

it('a service that is stopped while it starts exits with 0 and reports no failure', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', waiting]);
  const errors = text(child.stderr);
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(await errors).toBe('');
});
