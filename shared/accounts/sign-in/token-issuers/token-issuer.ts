import type { JSONWebKeySet } from 'jose';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { Tier } from '#shared/core/tier.ts';
import type { Limits } from '../../limits/limits.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** A workload, with the class, models, tiers, tools and limits that the registry grants it. */
export interface ServiceAccount {
  name: string;
  class: PriorityClass;
  models?: readonly string[] | undefined;
  tiers?: readonly Tier[] | undefined;
  tools?: readonly string[] | undefined;
  limits: Limits;
}

/** Assigns an account to tokens with matching claims. Exactly one of `person`, `team` and `serviceAccount` is set. */
export interface IssuerRule {
  /** The claims that a token must have, each with patterns. At least one pattern must match the claim. */
  match: readonly (readonly [claim: string, patterns: readonly string[]])[];
  /** `account`: the person linked to the subject. `email`: the person with the token's verified address. Else the address of a person. */
  person?: string | undefined;
  /** Name or id of the team. */
  team?: string | undefined;
  serviceAccount?: ServiceAccount | undefined;
}

/** The source of an issuer's keys. Without `jwks`, `jwksFile` and `jwksUri`, the URL of the keys is found by discovery. */
export interface KeysOfIssuer {
  issuer: string;
  jwksUri?: string | undefined;
  jwksFile?: string | undefined;
  jwks?: JSONWebKeySet | undefined;
  /** Path of a PEM file with certificate authorities. */
  ca?: string | undefined;
}

export interface AcceptedIssuer extends KeysOfIssuer {
  audiences: readonly string[];
  algorithms: readonly string[];
  /** Whether an e-mail address counts as verified if the token lacks the claim `email_verified`. */
  trustsEmail: boolean;
  rules: readonly IssuerRule[];
}
