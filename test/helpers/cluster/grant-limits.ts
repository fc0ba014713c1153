import { KeyVerifier } from '#shared/accounts/keys/key-verifier.ts';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';

/*
 * Loaded into an ingress before it starts (`--import`): every key gets what `TEST_IDENTITY` says, as JSON, with `KEY` for its
 * id. So an ingress with limits can be tested without the accounts that keep them.
 */
const { verify } = KeyVerifier.prototype as { verify: (this: KeyVerifier, ...args: [string]) => Verified };
type Verified = KeyIdentity | Promise<KeyIdentity>;

const given = process.env['TEST_IDENTITY'] ?? '{}';
const known = new WeakMap<KeyIdentity, KeyIdentity>();

KeyVerifier.prototype.verify = function (rawKey) {
  const identity = verify.call(this, rawKey);
  return identity instanceof Promise ? identity.then(granted) : granted(identity);
};

function granted(identity: KeyIdentity): KeyIdentity {
  const made = known.get(identity) ?? {
    ...identity,
    ...(JSON.parse(given.replaceAll('KEY', identity.id)) as Partial<KeyIdentity>),
  };
  known.set(identity, made);
  return made;
}
