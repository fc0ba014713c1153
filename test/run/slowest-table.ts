import type { FileTimes } from './times.ts';

/**
 * Formats the times of a run: its slowest files and tests, and its starts.
 * @param rows number of files and of tests
 */
export function slowestTable(times: readonly FileTimes[], rows = 25): string {
  const files = slowest(times).slice(0, rows);
  const tests = slowest(times.flatMap(({ file, tests }) => tests.map((test) => ({ file, ...test })))).slice(0, rows);
  const starts = Map.groupBy(
    times.flatMap((file) => file.starts),
    ({ kind }) => kind,
  );
  const whole = { wallMs: sum(times.map(({ wallMs }) => wallMs)), cpuMs: sum(times.map(({ cpuMs }) => cpuMs)) };
  return [
    '  wall s     cpu s  waiting   file',
    ...files.map((one) => `${figures(one)}   ${one.file}`),
    `${figures(whole)}   all ${times.length} files`,
    '',
    '  wall s     cpu s  waiting   test',
    ...tests.map((one) => `${figures(one)}   ${one.file}: ${one.name}`),
    '',
    ...[...starts].map(
      ([kind, all]) => `${all.length} × ${kind} started, in ${seconds(sum(all.map(({ ms }) => ms)))} s`,
    ),
  ].join('\n');
}

function slowest<One extends { wallMs: number }>(all: readonly One[]): One[] {
  return all.toSorted((a, b) => b.wallMs - a.wallMs);
}

/** Returns wall time, processor time, and the share of the wall time in which the processor was idle. */
function figures({ wallMs, cpuMs }: { wallMs: number; cpuMs: number }): string {
  const waiting = wallMs > 0 ? Math.max(0, 1 - cpuMs / wallMs) : 0;
  return `${seconds(wallMs).padStart(8)}  ${seconds(cpuMs).padStart(8)}  ${`${Math.round(waiting * 100)} %`.padStart(7)}`;
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
