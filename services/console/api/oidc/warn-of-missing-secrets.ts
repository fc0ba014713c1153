import type { Environment } from '#shared/core/load-config.ts';
import type { Logger } from '#shared/core/log.ts';
import type { SignInSettings } from '#shared/registry/sign-in.ts';

/** Logs a warning for each provider without its client secret, because the variable that `client_secret_env` names is not set. */
export function warnOfMissingSecrets(
  { providers }: SignInSettings,
  environment: Environment,
  log: Pick<Logger, 'warn'>,
): void {
  for (const { name: provider, client_secret_env: variable } of providers) {
    if (variable !== undefined && !environment[variable])
      log.warn(
        { provider, variable },
        'nobody can sign in at a provider: the variable of client_secret_env is not set',
      );
  }
}
