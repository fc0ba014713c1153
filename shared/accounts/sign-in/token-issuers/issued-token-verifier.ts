import { hash } from 'node:crypto';
import { decodeJwt, errors, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { KeyIdentity } from '../../keys/key-record.ts';
import { ReadThroughCache } from '#shared/store/redis/read-through-cache.ts';
import { findRule } from './find-rule.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { PartyIdentities, type TokenAccount, type PartyIdentitiesDependencies } from './party-identities.ts';
import { createServiceIdentity } from './service-identity.ts';
import type { AcceptedIssuer, Claims, KeysOfIssuer } from './token-issuer.ts';

const maxTokenLength = 16 * 1024;

/** Maximum seconds by which the clocks of the issuer and of this node may differ. */
const clockToleranceSeconds = 60;

/** The types (`typ`) that a token may have. Tokens of other types, such as logout tokens, are not credentials. */
const acceptedTypes = new Set([undefined, 'jwt', 'at+jwt', 'application/jwt', 'application/at+jwt']);

export interface IssuedTokenVerifierDependencies extends PartyIdentitiesDependencies {
  /** Returns the issuers of the current registry. */
  issuers: () => readonly AcceptedIssuer[];
  /**
   * Reads the keys of an issuer.
   * @throws an Error that states the reason
   */
  fetchKeys: (source: KeysOfIssuer) => Promise<JSONWebKeySet>;
  log: Pick<Logger, 'warn' | 'info'>;
}

/** The person, team or service account that a token stands for. */
type TokenSubject = TokenAccount | { kind: 'service'; identity: KeyIdentity };

interface KnownToken {
  subject: TokenSubject;
  /** In ms since 1970. */
  expiresAt: number;
  keys: IssuerKeys;
  /** Undefined: no keys count, see `IssuerKeys`. */
  keysVersion: number | undefined;
  /** The issuers of the registry when the token was verified. */
  issuers: readonly AcceptedIssuer[];
}

/**
 * Verifies tokens of other issuers, such as a company's identity provider or Kubernetes, and returns their identities. A token in use is
 * verified from memory until it expires, or until the issuer's keys or the rules change. For a new token, the signature is verified.
 */
export class IssuedTokenVerifier {
  readonly #dependencies: IssuedTokenVerifierDependencies;
  readonly #identities: PartyIdentities;
  /** The tokens by their digests. They depend on no announced change; see `#isCurrent`. */
  readonly #tokens = new ReadThroughCache<KnownToken>({
    noun: 'tokens',
    read: async (token) => {
      const known = await this.#verifyUnknown(token);
      return { value: known, freshMs: known.keysVersion === undefined ? 0 : Infinity, isAccepted: true };
    },
  });
  /** The keys of issuers, by their source. The keys of an issuer stay in memory when its rules change. */
  #keys: ReadonlyMap<string, IssuerKeys> = new Map();
  /** The issuers that `#keys` was made for. */
  #issuersOfKeys: readonly AcceptedIssuer[] | undefined;

  constructor(dependencies: IssuedTokenVerifierDependencies) {
    this.#dependencies = dependencies;
    this.#identities = new PartyIdentities(dependencies);
  }

  /**
   * Returns the identity of a token: at once for a token in use, else as a promise. Throws, or rejects with, a RouterError:
   * `invalid_api_key` for a token that is not valid; `permission_denied` for a subject without a rule and for a blocked person;
   * `store_unavailable` when the token cannot be verified; `overloaded`.
   */
  verify(token: string): KeyIdentity | Promise<KeyIdentity> {
    if (token.length > maxTokenLength) throw invalidTokenError(`it has more than ${maxTokenLength} characters`);
    const digest = hash('sha256', token, 'base64url');
    let found = this.#tokens.find(digest, token);
    if (!(found instanceof Promise) && !this.#isCurrent(found)) {
      this.#tokens.drop(digest);
      found = this.#tokens.find(digest, token);
    }
    if (found instanceof Promise) return found.then(({ subject }) => this.#resolveIdentity(subject));
    if (Date.now() >= found.expiresAt) throw invalidTokenError('it has expired');
    return this.#resolveIdentity(found.subject);
  }

  /** Removes a person or team from memory because of a published change. */
  drop(changed: string): void {
    this.#identities.drop(changed);
  }

  /** Marks all people and teams as outdated, because published changes may have been missed. They are read again at their next use. */
  markStale(): void {
    this.#identities.markStale();
  }

  /** Whether the issuer's keys and the rules are those with which a token was verified. */
  #isCurrent({ issuers, keys, keysVersion }: KnownToken): boolean {
    return issuers === this.#dependencies.issuers() && keys.getVersion() === keysVersion;
  }

  async #verifyUnknown(token: string): Promise<KnownToken> {
    const issuers = this.#dependencies.issuers();
    const issuer = issuers.find(({ issuer: name }) => name === readIssuerName(token));
    if (!issuer) throw invalidTokenError('its issuer is not one that the router accepts');
    const keys = this.#getKeys(issuer, issuers);
    const claims = await verifySignature(token, issuer, keys);
    const subject = matchRule(issuer, claims);
    const expiresAt = ((claims.exp ?? 0) + clockToleranceSeconds) * 1_000;
    // If the keys have changed since the signature was verified, the token is verified again at its next use.
    return { subject, expiresAt, keys, keysVersion: keys.getVersion(), issuers };
  }

  #resolveIdentity(subject: TokenSubject): KeyIdentity | Promise<KeyIdentity> {
    return subject.kind === 'service' ? subject.identity : this.#identities.find(subject);
  }

  #getKeys(issuer: AcceptedIssuer, issuers: readonly AcceptedIssuer[]): IssuerKeys {
    if (this.#issuersOfKeys !== issuers) {
      const { log, fetchKeys } = this.#dependencies;
      const before = this.#keys;
      const sources = issuers.map(({ issuer: name, jwksUri, jwksFile, jwks, ca }) => ({
        issuer: name,
        jwksUri,
        jwksFile,
        jwks,
        ca,
      }));
      this.#keys = new Map(
        sources.map((source) => {
          const sourceName = toSourceName(source);
          const read = () => fetchKeys(source);
          return [sourceName, before.get(sourceName) ?? new IssuerKeys({ issuer: source.issuer, read, log })];
        }),
      );
      this.#issuersOfKeys = issuers;
    }
    const keys = this.#keys.get(toSourceName(issuer));
    if (!keys) throw new Error(`the issuer ${issuer.issuer} is not among those of its registry`);
    return keys;
  }
}

function toSourceName({ issuer, jwksUri, jwksFile, jwks, ca }: KeysOfIssuer): string {
  return JSON.stringify([issuer, jwksUri, jwksFile, jwks, ca]);
}

function readIssuerName(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    // The token is not a JWT, so it has no issuer.
    return undefined;
  }
}

async function verifySignature(
  token: string,
  { issuer, audiences, algorithms }: AcceptedIssuer,
  keys: IssuerKeys,
): Promise<JWTPayload> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, (header, input) => keys.find(header, input), {
      issuer,
      audience: [...audiences],
      algorithms: [...algorithms],
      clockTolerance: clockToleranceSeconds,
      requiredClaims: ['exp', 'sub'],
    });
    if (!acceptedTypes.has(protectedHeader.typ?.toLowerCase()))
      throw invalidTokenError('its type is not that of a credential');
    if (payload.sub === '') throw invalidTokenError('its claim `sub` is empty');
    if (payload.iat !== undefined && payload.iat > Date.now() / 1_000 + clockToleranceSeconds)
      throw invalidTokenError('it is not valid yet');
    return payload;
  } catch (error) {
    if (error instanceof RouterError || !(error instanceof Error)) throw error;
    // For a key that is too short or malformed, jose throws an error of another class than JOSEError.
    throw invalidTokenError(error instanceof errors.JOSEError ? explainError(error) : 'its key cannot be used', error);
  }
}

/**
 * Returns the person, team or service account that a token with these claims stands for.
 * @throws RouterError `permission_denied` when no rule matches
 */
function matchRule({ issuer, rules, trustsEmail }: AcceptedIssuer, claims: Claims): TokenSubject {
  const rule = findRule(rules, claims);
  if (rule?.serviceAccount) return { kind: 'service', identity: createServiceIdentity(rule.serviceAccount) };
  if (rule?.team !== undefined) return { kind: 'team', name: rule.team };
  const { sub: subject, email, email_verified: isVerified = trustsEmail } = claims;
  if (rule?.person === 'account' && typeof subject === 'string')
    return { kind: 'account', name: `${issuer} ${subject}`, account: { issuer, subject } };
  if (rule?.person !== undefined && rule.person !== 'email') return { kind: 'person', name: rule.person };
  if (!rule) {
    throw new RouterError(
      'permission_denied',
      `The token is valid, but no rule is for its subject. Ask an administrator of the router for a rule for the subject \`${String(subject)}\` of the issuer ${issuer}.`,
    );
  }
  // Some issuers send `email_verified` as a text.
  if (typeof email === 'string' && (isVerified === true || isVerified === 'true'))
    return { kind: 'person', name: email };
  throw new RouterError(
    'permission_denied',
    'The token is valid, but has no verified e-mail address. Ask for the scope `email`, or an administrator of the router for a rule for its subject.',
  );
}

function explainError(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'it has expired';
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return 'it is meant for another audience';
    if (error.claim === 'nbf') return 'it is not valid yet';
    return `its claim \`${error.claim}\` is missing or wrong`;
  }
  if (error instanceof errors.JOSEAlgNotAllowed)
    return 'its algorithm is not one that the router accepts of its issuer';
  if (error instanceof errors.JWKSNoMatchingKey) return 'its issuer has no such key';
  return 'its signature is wrong';
}

function invalidTokenError(reason: string, cause?: Error): RouterError {
  return new RouterError('invalid_api_key', `The token is not accepted: ${reason}.`, { cause });
}
