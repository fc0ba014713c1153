import { until } from '../../helpers/until.ts';
import { startProcess, type ServiceProcess } from '../../helpers/processes/start-process.ts';

/** A service's process that a supervisor starts again. */
export interface Part {
  name: string;
  pid(): number | undefined;
  /** Ends it with SIGKILL, starts it again after this many milliseconds, and resolves when it is ready again. */
  kill(restartAfterMs: number): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Waits until it has logged that it is ready. */
  ready(): Promise<void>;
  /** Ends it for good. */
  stop(): Promise<void>;
}

/** How long a supervisor waits before it starts again what has ended by itself. */
const restartMs = 500;

/** Starts a part. */
export function startPart(name: string, file: string, environment: Record<string, string>, readyLine: string): Part {
  let starts = 0;
  let stopped = false;
  let pause = restartMs;
  let process: ServiceProcess;
  const start = (): void => {
    starts += 1;
    const started = startProcess(file, environment);
    process = started;
    started.child.once('exit', () => {
      const wait = pause;
      pause = restartMs;
      setTimeout(() => {
        if (!stopped) start();
      }, wait);
    });
  };
  // One that ends at its start is started again.
  const ready = () => until(() => stopped || process.lines.some(({ msg }) => msg === readyLine), 40_000);
  start();
  return {
    name,
    pid: () => process.child.pid,
    kill: async (restartAfterMs) => {
      pause = restartAfterMs;
      const before = starts;
      process.child.kill('SIGKILL');
      await until(() => starts > before || stopped);
      await ready();
    },
    signal: (signal) => void process.child.kill(signal),
    ready,
    stop: async () => {
      stopped = true;
      process.child.kill('SIGCONT');
      await process.stop();
    },
  };
}
