import { createCredentialVerifier } from '#shared/accounts/credentials/verify-credential.ts';
import { ExternalAccounts } from '#shared/accounts/external-accounts/external-accounts.ts';
import { KeyUseRecorder } from '#shared/accounts/keys/key-use-recorder.ts';
import { KeyVerifier } from '#shared/accounts/keys/key-verifier.ts';
import { isKeyId } from '#shared/accounts/keys/parse-key.ts';
import { Programs } from '#shared/accounts/programs/programs.ts';
import type { ShortOutages } from '#shared/accounts/redis/short-outages.ts';
import { fetchKeys } from '#shared/accounts/token-issuers/fetch-keys.ts';
import { IssuedTokenVerifier } from '#shared/accounts/token-issuers/issued-token-verifier.ts';
import { onKeyChange } from '#shared/broker/contract/change-signals.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Releases } from '#shared/core/release.ts';
import { isSafeAddress } from '#shared/registry/token-issuers.ts';
import type { ServingResources } from '#shared/serving/open/open-serving.ts';
import { createAnnouncer } from '../announce-change.ts';
import type { RequireKeyParts } from '../http/require-key.ts';
import { CheckedOwners } from './checked-owners.ts';

export interface ClientVerifiersOptions {
  serving: ServingResources;
  /** Makes requests wait during short outages of the Redis connection from which accounts are read. */
  outages: ShortOutages;
  /** Prefix of all names in Redis. */
  prefix: string;
  log: Logger;
  releases: Releases;
}

/** Verifies the credentials of clients: keys, tokens of programs, and tokens of other issuers. */
export interface ClientVerifiers extends Pick<RequireKeyParts, 'verifyKey' | 'noteUse'> {
  programs: Programs;
  externals: ExternalAccounts;
  /** Lets identity providers check the owners of keys, see `CheckedOwners`. */
  owners: Pick<CheckedOwners, 'setConfirm'>;
  /** Announces a change of a key, a person or a team to all ingress nodes, and applies the change here at once. */
  announce: ReturnType<typeof createAnnouncer>;
}

/** Creates the verifiers of keys and tokens. A change that another node makes takes effect here within a second. */
export function createClientVerifiers({
  serving,
  outages,
  prefix,
  log,
  releases,
}: ClientVerifiersOptions): ClientVerifiers {
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
  const announce = createAnnouncer(broker, dropCached, log);
  const verify = createCredentialVerifier({ keys: verifier, tokens: programs.verifier, issuers: issuedTokens });
  return {
    verifyKey: (credential) => outages.retry(() => verify(credential)),
    noteUse: (id) => {
      if (isKeyId(id)) keyUse.note(id);
    },
    programs,
    externals,
    owners,
    announce,
  };
}
