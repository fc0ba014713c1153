import { ConfigError, type Environment } from './load-config.ts';
import { Releases } from './release.ts';
import { refuseRemovedSettings } from './removed-settings.ts';

/** The exit code of a service with invalid settings (EX_CONFIG of sysexits(3)). A restart of such a service is pointless. */
export const configExitCode = 78;

/**
 * Runs a service: builds it, and releases everything on SIGTERM, on SIGINT, or when the parent process that started it with an IPC
 * channel has ended. Exits with 0 after a clean release, 1 if a release or the start failed, 78 if a setting is invalid or was removed. A second signal
 * ends the process at once.
 */
export async function runService(
  build: (environment: Environment, releases: Releases) => Promise<void>,
): Promise<void> {
  const releases = new Releases();
  let isStopping = false;
  const stop = async (code: number): Promise<void> => {
    if (isStopping) process.exit(1);
    isStopping = true;
    const failures = await releases.releaseAll();
    for (const failure of failures) reportError(failure);
    process.exit(failures.length > 0 ? 1 : code);
  };
  const onSignal = (): void => void stop(0);
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.on('disconnect', onSignal);
  try {
    refuseRemovedSettings(process.env);
    await build(process.env, releases);
  } catch (error) {
    // The signal aborted the build, which is not a failure. The process is about to exit.
    if (isStopping) return;
    if (error instanceof ConfigError) {
      process.stderr.write(`${error.message}\n`);
      await stop(configExitCode);
    } else {
      reportError(error);
      await stop(1);
    }
  }
}

function reportError(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
}
