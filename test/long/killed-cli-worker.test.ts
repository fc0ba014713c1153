import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { commandOf, realClis } from '../helpers/clis/real-clis.ts';
import { descendants, isAlive } from '../helpers/cluster/start-cli-worker.ts';
import { startProcess } from '../helpers/processes/start-process.ts';
import { startFakeModelApis, type FakeModelApis } from '../helpers/upstreams/fake-model-apis.ts';
import { until } from '../helpers/until.ts';

/** Paths of the shells that this machine has. */
const shells = ['dash', 'bash'].flatMap((shell) => {
  const found = spawnSync('/bin/sh', ['-c', `command -v ${shell}`], { encoding: 'utf8' });
  return found.status === 0 ? [found.stdout.trim()] : [];
});

let api: FakeModelApis;
beforeAll(async () => {
  api = await startFakeModelApis();
});
afterAll(() => api.close());

describe('a worker that is killed in the middle of an answer', { tags: ['linux'] }, () => {
  // What a shell does at its end does not depend on the agent: one with a process for each conversation, one with one for several.
  for (const { name, models, environment } of [realClis.claude, realClis.codex])
    it.each(shells)(`leaves nothing of ${name}, under %s`, { tags: [name] }, async (shell) => {
      const args = [shell, name, commandOf(name), models[0]];
      const worker = startProcess('test/helpers/clis/busy-cli-worker.ts', environment(api.url), args);
      onTestFinished(() => worker.kill());
      const root = String((await worker.line('busy', 100_000))['root']);
      const processes = descendants(worker.child.pid ?? 0);
      expect(processes.length).toBeGreaterThan(1);
      expect(existsSync(root)).toBe(true);
      await worker.kill();
      const isGone = (): boolean => !processes.some(isAlive) && !existsSync(root);
      await until(isGone);
      // Nothing that still runs writes its files again.
      await sleep(1_000);
      expect(isGone()).toBe(true);
    });
});
