import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { processIdentity } from '#shared/core/process-identity.mjs';
import { spawnGuarded } from '#services/rtr/up/children/child.ts';
import { until } from '../../../../helpers/until.ts';
import { temporaryFolder } from '../../../../helpers/files/temporary-folder.ts';

describe('a guarded program', () => {
  it('ends with its whole group when its parent is killed', async () => {
    const parentFile = join(temporaryFolder(), 'parent.ts');
    const module = join(process.cwd(), 'services/rtr/up/children/child.ts');
    writeFileSync(
      parentFile,
      `import { spawnGuarded } from '${module}';
       const child = spawnGuarded('/bin/sh', ['-c', 'sleep 60 & echo $!; wait']);
       child.stdout.on('data', (text) => process.send([child.pid, Number(text)]));`,
    );
    const parent = fork(parentFile);
    const [[child, grandchild]] = (await once(parent, 'message')) as [[number, number]];
    expect(processIdentity(child)).toBeDefined();
    parent.kill('SIGKILL');
    await until(() => processIdentity(child) === undefined && processIdentity(grandchild) === undefined);
  });

  it('ends the processes that it has started when it ends', async () => {
    const goOn = join(temporaryFolder(), 'go-on');
    const child = spawnGuarded('/bin/sh', ['-c', 'sleep 60 & echo $!; until [ -e "$0" ]; do sleep 0.05; done', goOn]);
    const [text] = await once(child.stdout, 'data');
    expect(processIdentity(Number(text))).toBeDefined();
    writeFileSync(goOn, '');
    await until(() => processIdentity(Number(text)) === undefined);
  });

  it('does not run without its guard', async () => {
    const parentFile = join(temporaryFolder(), 'parent.ts');
    const module = join(process.cwd(), 'services/rtr/up/children/child.ts');
    writeFileSync(
      parentFile,
      `import children from 'node:child_process';
       import { once } from 'node:events';
       import { syncBuiltinESMExports } from 'node:module';
       const { spawn } = children;
       children.spawn = (command, ...rest) => spawn(command === '/bin/sh' ? '/no/such/shell' : command, ...rest);
       syncBuiltinESMExports();
       const { isRunning, spawnGuarded } = await import('${module}');
       const child = spawnGuarded('/bin/sleep', ['60']);
       const [error] = await once(child, 'error');
       process.send([error.code, isRunning(child)]);
       child.kill('SIGKILL');
       process.disconnect();`,
    );
    const [outcome] = await once(fork(parentFile), 'message');
    expect(outcome).toEqual(['ENOENT', false]);
  });

  it('emits an error if it does not exist', async () => {
    const [error] = await once(spawnGuarded('/no/such/program', []), 'error');
    expect(error).toMatchObject({ code: 'ENOENT' });
  });
});
