import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, utimesSync, writeFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { processIdentity } from '#shared/core/process-identity.mjs';
import { lockHolder, takeLock } from '#shared/core/take-lock.mjs';
import { useFolder } from '../../helpers/files/temporary-folder.ts';

const folder = useFolder();
const file = join(folder, 'a.lock');
beforeEach(() => rmSync(file, { recursive: true, force: true }));

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

  it('of an earlier release, which is a file, is held until its holder ends', async () => {
    const identity = processIdentity(process.pid);
    writeFileSync(file, JSON.stringify({ pid: process.pid, identity }));
    expect(lockHolder(file)).toBe(process.pid);
    expect(takeLock(file)).toEqual({ holder: process.pid });
  });

  it('that another process has taken meanwhile is not released', () => {
    const lock = takeLock(file);
    rmSync(file, { recursive: true });
    expect(takeLock(file)).toHaveProperty('release');
    if ('release' in lock) lock.release();
    expect(lockHolder(file)).toBe(process.pid);
  });

  it('goes to exactly one of many processes that find it stale at the same time', async () => {
    const takers = Array.from({ length: 6 }, () => fork('test/helpers/processes/lock-taker.ts'));
    onTestFinished(() => takers.forEach((child) => child.kill('SIGKILL')));
    await Promise.all(takers.map((child) => once(child, 'message')));
    const stale = '{"pid":99999999,"identity":"1"}';
    const leaveBehind: ((path: string) => void)[] = [
      (path) => {
        mkdirSync(path);
        writeFileSync(join(path, 'dead'), stale);
      },
      (path) => mkdirSync(path),
      // An earlier release, one of whose processes died while it removed the lock of another one.
      (path) => {
        writeFileSync(path, stale);
        writeFileSync(`${path}.claim`, stale);
      },
    ];
    for (let round = 0; round < 24; round += 1) {
      const path = join(folder, `${round}.lock`);
      leaveBehind[round % leaveBehind.length]?.(path);
      const answers = takers.map((child) => once(child, 'message'));
      for (const child of takers) child.send(path);
      const taken = (await Promise.all(answers)).map(([answer]) => answer as string);
      expect(taken.toSorted()).toEqual(['held', 'taken', 'taken', 'taken', 'taken', 'taken']);
      expect(
        readdirSync(folder).filter((name) => name.startsWith(`${round}.lock.`) && !name.endsWith('.claim')),
      ).toEqual([]);
    }
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
