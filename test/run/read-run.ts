import { relative } from 'node:path';
import { startVitest, type TestModule, type Vitest } from 'vitest/node';
import { findNeeds } from './needs.ts';
import type { FileTimes } from './times.ts';

interface RunResult {
  passed: number;
  failed: number;
  /** Skipped tests for each need that this machine does not meet. */
  notRun: { need: string; how: string; tests: number }[];
  times: FileTimes[];
}

/**
 * Runs the tests of some projects of Vitest.
 * @param files words that select files; empty for all
 */
export async function runVitest(project: string[], files: readonly string[], options = {}): Promise<RunResult> {
  process.exitCode = 0;
  const vitest = await startVitest('test', [...files], { run: true, project, passWithNoTests: true, ...options });
  const result = await readRun(vitest, process.exitCode === 0);
  await vitest.close();
  return result;
}

/**
 * Reads the result of a run.
 * @param isGreen whether Vitest saw no failure; a failed set-up of the whole run shows only here
 */
async function readRun({ state, config }: Vitest, isGreen: boolean): Promise<RunResult> {
  const modules = state.getTestModules();
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const inState = (wanted: string) => tests.filter((test) => test.result().state === wanted);
  const skipped = inState('skipped');
  // A file that cannot be loaded, a failed hook and an error outside of tests have no failed test, yet they are failures.
  const isBroken =
    !isGreen || state.getUnhandledErrors().length > 0 || modules.some((module) => module.state() === 'failed');
  return {
    passed: inState('passed').length,
    failed: Math.max(inState('failed').length, isBroken ? 1 : 0),
    notRun: (await findNeeds())
      .filter(({ isMet }) => !isMet)
      .map(({ name, how }) => ({ need: name, how, tests: skipped.filter(({ tags }) => tags.includes(name)).length }))
      .filter((missing) => missing.tests > 0),
    times: modules.map((module) => timesOf(module, config.root)),
  };
}

function timesOf(module: TestModule, root: string): FileTimes {
  const { collectDuration, duration, setupDuration } = module.diagnostic();
  const { cpuMs = 0, starts = [] } = module.meta();
  return {
    file: relative(root, module.moduleId),
    wallMs: Math.round(collectDuration + setupDuration + duration),
    cpuMs: Math.round(cpuMs),
    tests: [...module.children.allTests()].map((test) => ({
      name: test.fullName,
      wallMs: Math.round(test.diagnostic()?.duration ?? 0),
      cpuMs: Math.round(test.meta().cpuMs ?? 0),
    })),
    starts,
  };
}
