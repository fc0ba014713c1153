import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, utimesSync, writeFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { processIdentity } from '#shared/core/process-identity.mjs';
import { lockHolder, takeLock } from '#shared/core/take-lock.mjs';
import { useFolder } from '../../helpers/files/temporary-folder.ts';

const folder = useFolder();
const file = join(folder, 'a.lock');
beforeEach(() => rmSync(file, { force: true }));

describe('a lock', () => {
  it('has one holder, and is free after its release', () => {
    const lock = takeLock(file);
    expect(takeLock(file)).toEqual({ holder: process.pid });
    if ('release' in lock) lock.release();
    expect(lockHolder(file)).toBeUndefined();
  });

  it('ends with its holder', async () => {
    writeFileSync(file, JSON.stringify({ pid: await deadProcess(), identity: '1' }));
    expect(takeLock(file)).toHaveProperty('release');
  });

  it('is not held by a later process with the id of the dead one', () => {
    writeFileSync(file, JSON.stringify({ pid: process.pid, identity: 'another start time' }));
    expect(takeLock(file)).toHaveProperty('release');
  });

  it('of another machine or container ends after the given time, since its holder is not visible here', () => {
    const theirs = JSON.stringify({ pid: process.pid, identity: '1', space: 'elsewhere' });
    writeFileSync(file, theirs);
    expect(takeLock(file, 30_000)).toEqual({ holder: process.pid });
    const before = Date.now() / 1_000 - 31;
    utimesSync(file, before, before);
    expect(takeLock(file, 30_000)).toHaveProperty('release');
  });

  it('stays held by a process of a machine that was renamed', () => {
    const identity = processIdentity(process.pid);
    writeFileSync(file, JSON.stringify({ pid: process.pid, identity, space: 'its old name' }));
    expect(takeLock(file)).toEqual({ holder: process.pid });
  });

  it.each(['', '{', '[]', 'null', '12', '{"pid":"x"}', '{"pid":99999999}'])(
    'has no holder if it is damaged: %j',
    (content) => {
      writeFileSync(file, content);
      expect(lockHolder(file)).toBeUndefined();
      expect(takeLock(file)).toHaveProperty('release');
    },
  );

  it('goes to exactly one of many processes that find it stale at the same time', async () => {
    writeFileSync(file, '{"pid":99999999,"identity":"1"}');
    const taker = join(folder, 'taker.mjs');
    const begin = `import { takeLock } from '${join(process.cwd(), 'shared/core/take-lock.mjs')}';`;
    const take = `process.once('message', () => process.send('release' in takeLock('${file}')));`;
    writeFileSync(taker, `${begin} ${take} process.send('ready'); setInterval(() => {}, 60_000);`);
    const takers = Array.from({ length: 6 }, () => fork(taker));
    await Promise.all(takers.map((child) => once(child, 'message')));
    const answers = takers.map((child) => once(child, 'message'));
    for (const child of takers) child.send('go');
    const taken = (await Promise.all(answers)).map(([answer]) => answer as boolean);
    for (const child of takers) child.kill('SIGKILL');
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(readdirSync(folder).filter((name) => name.startsWith('a.lock.'))).toEqual([]);
  });
});

it('the identity of a process stays the same, and is undefined after the process has ended', async () => {
  expect(processIdentity(process.pid)).toBe(processIdentity(process.pid));
  expect(processIdentity(await deadProcess())).toBeUndefined();
});

async function deadProcess(): Promise<number> {
  const child = fork('/dev/null', { stdio: 'ignore' });
  await once(child, 'exit');
  if (child.pid === undefined) throw new Error('the process did not start');
  return child.pid;
}
