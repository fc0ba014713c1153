import { setTimeout as wait } from 'node:timers/promises';
import * as oidc from 'openid-client';
import type { Request } from 'express';
import type { Accounts } from '#shared/accounts/accounts.ts';
import { ExternalAccounts } from '#shared/accounts/sign-in/external-accounts/external-accounts.ts';
import type { Environment } from '#shared/core/load-config.ts';
import type { Logger } from '#shared/core/log.ts';
import type { SignInSettings } from '#shared/registry/sign-in.ts';
import { resolveRouterAddress } from '#shared/core/router-address.ts';
import type { ApiParts } from '../api-parts.ts';
import { createHolderConfirmer, createPersonConfirmer } from './confirm-person.ts';
import type { OidcParts } from './oidc-routes.ts';
import { KnownDevices } from '../session/known-devices.ts';
import { ProviderClients } from './provider-clients.ts';
import { SignInStates } from './sign-in-state.ts';

/** Milliseconds that a sign-out waits for the address of the provider's sign-out page, if that address is not known. */
const signOutWaitMs = 1_000;

export interface OpenOidcParts {
  accounts: Accounts;
  externals: ExternalAccounts;
  settings: () => SignInSettings;
  /** Registers a listener that is called after each change of the settings. */
  onChange: (listener: () => void) => void;
  /** Returns the secrets of the cluster, newest first. */
  secrets: () => readonly Uint8Array[];
  /** Contains the router's client secrets at the providers. */
  environment: Environment;
  announce: ApiParts['announce'];
  publicUrl: string | undefined;
  log: Logger;
}

/**
 * Sets up signing in at providers, and the checks of sign-in sessions. A session that was opened at a provider ends when the provider
 * refuses the person. Sessions that were opened without a provider are valid only while local accounts are on.
 */
export function openOidc(parts: OpenOidcParts) {
  const { accounts, externals, settings, onChange, secrets, environment, announce, publicUrl, log } = parts;
  const warnOfMissing = (): void => warnOfMissingSecrets(settings(), environment, log);
  warnOfMissing();
  onChange(warnOfMissing);
  const clients = new ProviderClients(environment);
  const confirmParts = { accounts, externals, announce, log, clients, signIn: settings };
  const confirm = createPersonConfirmer(confirmParts);
  accounts.sessions.setConfirm(confirm);
  accounts.sessions.setAcceptsLocal(() => settings().local_accounts);
  const states = new SignInStates({ secrets, takeState: (state, ms) => externals.markStateUsed(state, ms) });
  const routes: OidcParts = { settings, clients, states, externals };
  const confirmHolder = createHolderConfirmer(confirmParts, confirm);
  return { routes, confirm, confirmHolder, signOutPage, devices: new KnownDevices(secrets) };

  async function signOutPage(request: Request, name: string): Promise<string | undefined> {
    const provider = settings().providers.find((each) => each.name === name);
    if (!provider) return undefined;
    const client = await Promise.race([
      clients.of(provider).catch(() => undefined),
      wait(signOutWaitMs, undefined, { ref: false }),
    ]);
    if (client?.serverMetadata().end_session_endpoint === undefined) return undefined;
    const home = resolveRouterAddress(request, publicUrl);
    return oidc.buildEndSessionUrl(client, { post_logout_redirect_uri: new URL('/', home).href }).href;
  }
}

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
