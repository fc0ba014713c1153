import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { openCliWorker } from '../../../helpers/clis/open-cli-worker.ts';
import { isAlive } from '../../../helpers/cluster/start-cli-worker.ts';
import { startProcess } from '../../../helpers/processes/start-process.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { until } from '../../../helpers/until.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';

/** Contains a program, and below `pids` a file for each process that it has started in a session of its own. */
let folder: string;
let command: string;
beforeEach(() => {
  folder = temporaryFolder();
  mkdirSync(join(folder, 'pids'));
  command = join(folder, 'program');
  const program = `#!/bin/sh
setsid sh -c 'touch "$0/$$"; sleep 600' ${folder}/pids < /dev/null > /dev/null 2>&1 &
exec cat
`;
  writeFileSync(command, program, { mode: 0o700 });
});
afterEach(() => {
  for (const pid of stragglers()) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
});

const stragglers = (): number[] => readdirSync(join(folder, 'pids')).map(Number);

describe('a process that a CLI has started in a session of its own', { tags: ['linux'] }, () => {
  it('ends with the conversation whose process started it', async () => {
    const worker = stopAfterTest(await openCliWorker({ kind: 'command', command, size: 1 }));
    await until(() => stragglers().length === 1);
    const [first = 0] = stragglers();
    expect(isAlive(first)).toBe(true);
    const { text } = await worker.run({ messages: [{ role: 'user', content: 'Hi' }] });
    expect(text).toContain('Hi');
    await until(() => !isAlive(first) && stragglers().length === 2);
    await worker.close();
    await until(() => !stragglers().some(isAlive));
  });

  it('ends with a worker that is killed', async () => {
    const worker = startProcess('services/cli-worker/main.ts', {
      NATS_URL: inject('natsUrl'),
      RTR_PREFIX: 'stragglers-test',
      CLI_KIND: 'command',
      CLI_COMMAND: command,
      CLI_MODELS: 'm1',
      SLOTS: '2',
    });
    await until(() => stragglers().length === 2);
    await worker.kill();
    await until(() => expect(stragglers().filter(isAlive)).toEqual([]));
  });
});
