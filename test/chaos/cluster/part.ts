import { until } from '../../helpers/until.ts';
import { startProcess, type ServiceProcess } from '../../helpers/processes/start-process.ts';

/** An end of a service's process that nobody asked for, or a start that takes too long. */
export interface Crash {
  /** As `performance.now()` tells. */
  at: number;
  /** Whether it was ready before, or should be by now. */
  wasReady: boolean;
  /** Exit code or signal, and the last lines that it logged. */
  detail: string;
}

/** How long a supervisor waits before it starts again what has ended by itself. */
const restartMs = 500;

/** Longest time that a start may take, attempts included that failed. */
const readyMs = 40_000;

/** Has services take orders to shift their clock. */
const preload = `--import=${new URL('../faults/shift-clock.ts', import.meta.url).href}`;

/** Starts a part. */
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
        crashes.push({
          at: performance.now(),
          wasReady: isReady(started),
          detail: `${code ?? signal}: ${lastLines()}`,
        });
      }
      isKilled = false;
      const wait = pause;
      pause = restartMs;
      setTimeout(() => {
        if (!stopped) start();
      }, wait);
    });
  };
  const isReady = ({ lines }: ServiceProcess): boolean => lines.some(({ msg }) => msg === readyLine);
  // One that ends at its start is started again.
  const lastLines = (): string =>
    process.lines
      .slice(-5)
      .map((line) => JSON.stringify(line))
      .join(' ');
  const ready = () =>
    until(() => {
      if (!stopped && !isReady(process)) throw new Error(`${name} is not ready: ${lastLines()}`);
    }, readyMs);
  start();
  return {
    name,
    /** Every end that nobody asked for, and every start that takes too long. */
    crashes,
    /** What it has logged of a request, in all its lives. */
    linesOf: (id: string) =>
      lives.flatMap(({ lines }) =>
        lines.map((line) => JSON.stringify(line)).filter((line) => line.includes(`"${id}"`)),
      ),
    /** Whether it runs and has been ready since its start: what a load balancer knows of it. */
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
    // One that has just ended takes no orders.
    /** Sets its clock forward by this many milliseconds, or back. When it is started again, its clock is right. */
    shiftClock: (ms: number) => void process.child.send({ shiftClockMs: ms }, () => undefined),
    /** Waits until it has logged that it is ready. */
    ready,
    /** Ends it for good. */
    stop: async () => {
      stopped = true;
      process.child.kill('SIGCONT');
      await process.stop();
    },
  };
}

/** A service's process that a supervisor starts again. */
export type Part = ReturnType<typeof startPart>;
