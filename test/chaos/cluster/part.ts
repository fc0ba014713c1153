import { until } from '../../helpers/until.ts';
import { startProcess, type ServiceProcess } from '../../helpers/processes/start-process.ts';

/** An unexpected end of a service's process, or a start that takes too long. */
export interface Crash {
  /** Time of `performance.now()`. */
  at: number;
  /** Whether it was ready before, or should have been ready by then. */
  wasReady: boolean;
  /** Exit code or signal, and the last logged lines. */
  detail: string;
}

/** Milliseconds that a supervisor waits before it restarts a process that ended by itself. */
const restartMs = 500;

/** Maximum milliseconds of a start, failed tries included. */
const readyMs = 40_000;

/** Makes services take orders to shift their clock. */
const preload = `--import=${new URL('../faults/shift-clock.ts', import.meta.url).href}`;

export function startPart(name: string, file: string, environment: Record<string, string>, readyLine: string) {
  let starts = 0;
  let stopped = false;
  let pause = restartMs;
  let isKilled = false;
  const crashes: Crash[] = [];
  const lives: ServiceProcess[] = [];
  let process: ServiceProcess;
  const start = (): void => {
    starts += 1;
    const started = startProcess(file, { ...environment, NODE_OPTIONS: preload });
    process = started;
    lives.push(started);
    started.child.once('exit', (code, signal) => {
      if (!isKilled && !stopped) {
        const detail = `${code ?? signal}: ${lastLines()}`;
        crashes.push({ at: performance.now(), wasReady: isReady(started), detail });
      }
      isKilled = false;
      setTimeout(() => stopped || start(), pause);
      pause = restartMs;
    });
  };
  const isReady = ({ lines }: ServiceProcess): boolean => lines.some(({ msg }) => msg === readyLine);
  // A process that ends at its start is started again.
  const textOf = (lines: object[]): string[] => lines.map((line) => JSON.stringify(line));
  const lastLines = (): string => textOf(process.lines.slice(-5)).join(' ');
  const ready = () =>
    until(() => {
      if (!stopped && !isReady(process)) throw new Error(`${name} is not ready: ${lastLines()}`);
    }, readyMs);
  start();
  return {
    name,
    /** Every unexpected end, and every start that takes too long. */
    crashes,
    /** Returns its log lines about a request, over all its lives. */
    linesOf: (id: string) => lives.flatMap(({ lines }) => textOf(lines).filter((line) => line.includes(`"${id}"`))),
    /** Whether it runs and has been ready since its start: the view of a load balancer. */
    isUp: () => process.child.exitCode === null && process.child.signalCode === null && !isKilled && isReady(process),
    pid: () => process.child.pid,
    /** Ends it with SIGKILL, starts it again after this many milliseconds, and resolves when it is ready again. */
    kill: async (restartAfterMs: number) => {
      pause = restartAfterMs;
      const before = starts;
      isKilled = true;
      process.child.kill('SIGKILL');
      await until(() => starts > before || stopped);
      await ready().catch(() => {
        const detail = `it is not ready ${readyMs} ms after its start: ${lastLines()}`;
        crashes.push({ at: performance.now(), wasReady: true, detail });
      });
    },
    signal: (signal: NodeJS.Signals) => void process.child.kill(signal),
    // A process that has just ended takes no orders.
    /** Sets its clock forward by this many milliseconds, or back. After a restart, its clock is right. */
    shiftClock: (ms: number) => void process.child.send({ shiftClockMs: ms }, () => undefined),
    ready,
    stop: async () => {
      stopped = true;
      process.child.kill('SIGCONT');
      await process.stop();
    },
  };
}

export type Part = ReturnType<typeof startPart>;
