import { ConfigError, type Environment } from './load-config.ts';
import { Releases } from './release.ts';

/** Exit code of a service whose settings are wrong (EX_CONFIG of sysexits(3)): to start it again as it is would not help. */
export const configExitCode = 78;

/**
 * Runs a service's `main.ts`: builds it, and releases all of it on SIGTERM, SIGINT, or when the process that started it
 * with an IPC channel is gone. Exits with 0 when everything was released, with 1 when not or when the start failed,
 * with 78 when a setting is wrong. A second signal ends the process at once.
 */
export async function runService(
  build: (environment: Environment, releases: Releases) => Promise<void>,
): Promise<void> {
  const releases = new Releases();
  let stopping = false;
  const stop = async (code: number): Promise<void> => {
    if (stopping) process.exit(1);
    stopping = true;
    const failures = await releases.run();
    for (const failure of failures) report(failure);
    process.exit(failures.length > 0 ? 1 : code);
  };
  const onSignal = (): void => void stop(0);
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.on('disconnect', onSignal);
  try {
    await build(process.env, releases);
  } catch (error) {
    // What was under way when the service was told to stop ends because of that. It is no failure, and the end is near.
    if (stopping) return;
    if (error instanceof ConfigError) {
      process.stderr.write(`${error.message}\n`);
      await stop(configExitCode);
    } else {
      report(error);
      await stop(1);
    }
  }
}

function report(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
}
