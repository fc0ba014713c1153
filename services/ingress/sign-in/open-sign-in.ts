import type { Express } from 'express';
import { createCredentialVerifier } from '#shared/accounts/keys/verify-credential.ts';
import { ExternalAccounts } from '#shared/accounts/sign-in/external-accounts/external-accounts.ts';
import { KeyUseRecorder } from '#shared/accounts/keys/key-use-recorder.ts';
import { KeyVerifier } from '#shared/accounts/keys/key-verifier.ts';
import { isKeyId } from '#shared/accounts/keys/parse-key.ts';
import { Programs } from '#shared/accounts/sign-in/programs/programs.ts';
import { fetchKeys } from '#shared/accounts/sign-in/token-issuers/fetch-keys.ts';
import { IssuedTokenVerifier } from '#shared/accounts/sign-in/token-issuers/issued-token-verifier.ts';
import { announceInTime, announceKeyChange, onKeyChange } from '#shared/broker/contract/change-signals.ts';
import { isSafeAddress } from '#shared/registry/token-issuers.ts';
import type { IngressContext } from '../context.ts';
import type { VerifyKey } from '../http/require-key.ts';
import { createMetadataHandler, metadataPath } from './authorization-server-metadata.ts';
import { CheckedOwners } from './checked-owners.ts';
import { createOAuthRoutes, type OAuthPrograms } from './oauth-routes.ts';

/**
 * Opens the verifiers of the credentials of clients: keys, tokens of programs, and tokens of other issuers. A change that another node makes
 * takes effect here within a second.
 */
export function openSignIn(context: IngressContext) {
  const { serving, outages, prefix, log, releases } = context;
  const { redis, accounts, store, reportUnreadable: report, ownerKeys: keys, broker, registry, secrets } = serving;
  const owners = new CheckedOwners(store.guard(accounts.keys), accounts.users, log);
  releases.add('owners of keys', () => owners.close());
  const verifier = new KeyVerifier(owners);
  const keyUse = new KeyUseRecorder(accounts.keys, log);
  releases.add('key use', () => keyUse.close());
  const programs = new Programs(redis.redis, prefix, { ...accounts, secrets, report });
  releases.add('programs', () => programs.close());
  const externals = new ExternalAccounts(redis.redis, prefix, { keys, report });
  const issuedTokens = new IssuedTokenVerifier({
    ...accounts,
    externals,
    store,
    issuers: () => registry.current().token_issuers,
    fetchKeys: (source) => fetchKeys(source, isSafeAddress),
    log,
  });
  const verifiers = [verifier, programs.verifier, issuedTokens];
  const dropCached = (changed: string): void => verifiers.forEach((each) => each.drop(changed));
  const markStale = (): void => verifiers.forEach((each) => each.markStale());
  onKeyChange(broker, (changed) => (changed === undefined ? markStale() : dropCached(changed)));
  broker.onReconnect(markStale);
  // While the store did not answer, sign-ins may have ended without an announcement. Only keys, people and teams are read again every 30
  // seconds.
  redis.redis.on('ready', () => programs.verifier.markStale());
  const verify = createCredentialVerifier({ keys: verifier, tokens: programs.verifier, issuers: issuedTokens });
  const verifyKey: VerifyKey = (credential) => outages.retry(() => verify(credential));
  return {
    verifyKey,
    noteUse: (id: string): void => {
      if (isKeyId(id)) keyUse.note(id);
    },
    programs,
    externals,
    /** Lets identity providers check the owners of keys, see `CheckedOwners`. */
    owners,
    announce,
  };

  /**
   * Announces a change of a key, person, team or sign-in to every ingress, and applies the change here at once. Never throws, because the
   * change may be stored already. An ingress that misses the announcement reads a changed key, person or team within 30 seconds, but accepts
   * access tokens until it connects again or they expire.
   * @param changed the id of a key, `user:<id>` or `team:<id>` for all keys of a person or team, or `program:<id>` for a sign-in
   */
  async function announce(changed: string): Promise<void> {
    dropCached(changed);
    const failure = await announceInTime(announceKeyChange(broker, changed));
    if (failure !== undefined)
      log.warn({ err: failure, changed }, 'other ingress nodes may not know of a key change for 30 s');
  }
}

/** Creates the routes at which programs sign in: those of each API, and those of the router as a whole. */
export function createSignInRoutes(context: IngressContext, programs: OAuthPrograms) {
  const { apis, config } = context;
  return {
    addApiRoutes: (app: Express): void => {
      for (const { path } of apis) {
        app.use(path, createOAuthRoutes(path, context, programs));
        app.get(`${metadataPath}${path}`, createMetadataHandler(path, apis, config.PUBLIC_URL));
      }
    },
    addRoutes: (app: Express): void => void app.use(createOAuthRoutes('', context, programs)),
  };
}
