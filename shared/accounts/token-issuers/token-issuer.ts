import type { JSONWebKeySet } from 'jose';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { Tier } from '#shared/core/tier.ts';
import type { Limits } from '../limits/limits.ts';

/** What a token says. */
export type Claims = Readonly<Record<string, unknown>>;

/** A workload with what the registry grants it. */
export interface ServiceAccount {
  name: string;
  class: PriorityClass;
  models?: readonly string[] | undefined;
  tiers?: readonly Tier[] | undefined;
  tools?: readonly string[] | undefined;
  limits: Limits;
}

/** For whom tokens with these claims are. One of `person`, `team` and `serviceAccount` is there. */
export interface IssuerRule {
  /** Each claim with the values that it may have. */
  match: readonly (readonly [claim: string, patterns: readonly string[]])[];
  /** `account`: the person linked to the subject; `email`: the person with the verified address; else the address of a person. */
  person?: string | undefined;
  /** Name or id. */
  team?: string | undefined;
  serviceAccount?: ServiceAccount | undefined;
}

/** Where an issuer's keys are: named, or found by discovery. */
export interface KeysOfIssuer {
  issuer: string;
  jwksUri?: string | undefined;
  jwksFile?: string | undefined;
  jwks?: JSONWebKeySet | undefined;
  /** File in PEM. */
  ca?: string | undefined;
}

/** An issuer whose tokens are accepted. */
export interface AcceptedIssuer extends KeysOfIssuer {
  audiences: readonly string[];
  algorithms: readonly string[];
  /** Whether an address counts as verified where a token does not say so. */
  trustsEmail: boolean;
  rules: readonly IssuerRule[];
}
