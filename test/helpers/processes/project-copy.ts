import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { hostNode, runCommand, type RunningCommand } from './run-command.ts';
import { until } from '../until.ts';

/** Copies the files that a cluster needs; the dependencies are shared with the original. */
export async function copyProject() {
  const root = mkdtempSync(join(tmpdir(), 'rtr-project-'));
  for (const part of ['services', 'shared', 'package.json', 'package-lock.json']) {
    cpSync(part, join(root, part), { recursive: true });
  }
  symlinkSync(join(process.cwd(), 'node_modules'), join(root, 'node_modules'));
  const port = await findFreePort();
  let running: RunningCommand | undefined;
  const rtrWith = (env: Record<string, string>, ...args: string[]) =>
    runCommand(hostNode(), ['services/rtr/bootstrap.mjs', ...args], { cwd: root, env: { PORT: String(port), ...env } });
  const rtr = (...args: string[]) => rtrWith({}, ...args);
  const down = async () => {
    running?.child.kill('SIGTERM');
    await running?.ended;
  };
  return {
    root,
    /** The port its clusters listen on. */
    port,
    /** Runs `rtr` with these arguments, on the machine's Node. */
    rtr,
    /** The same with further variables. */
    rtrWith,
    /** Runs `rtr up` with these arguments, and returns when it reports that the cluster is up. */
    async up(...args: string[]) {
      const run = rtr('up', ...args);
      running = run;
      let ended = false;
      void run.ended.then(() => (ended = true));
      await until(() => {
        if (ended) throw new Error(`rtr up ended:\n${run.err}`);
        return run.out.includes('Ctrl-C stops everything.');
      }, 120_000);
      return run;
    },
    /** Stops the cluster that runs, if any. */
    down,
    async remove() {
      await down();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** A copy of the project in a folder of its own, to run `rtr` in as a user does. */
export type ProjectCopy = Awaited<ReturnType<typeof copyProject>>;
