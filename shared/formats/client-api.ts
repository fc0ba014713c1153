import type { IncomingHttpHeaders } from 'node:http';
import type { BatchFormat } from './batches/batch-format.ts';
import type { ModelOperation } from '#shared/core/operation.ts';

/** The paths below one segment of `/api/`, which the SDKs of one vendor use with one base URL and one key. */
export interface ClientApi {
  /** The path segment: `/api/<segment>`. */
  segment: string;
  /** The setting of the ingress that renames the segment; undefined if it cannot be renamed. */
  segmentSetting?: 'CHAT_FAMILY' | 'MESSAGES_FAMILY';
  /** Prefixes of the paths of its formats below the segment; `''` for none. Clients may use any of them. */
  prefixes: readonly string[];
  /** Another header that may carry the key, in addition to `Authorization: Bearer`. */
  keyHeader?: string;
  /** Paths, below the segment and at the root, that answer every GET with this JSON, without a key. */
  greetings?: Readonly<Record<string, object>>;
  /** The body of `GET /models`: the models that the key may use. */
  listModels(
    cards: readonly ModelCard[],
    query: Readonly<Record<string, unknown>>,
    headers: IncomingHttpHeaders,
  ): object;
  /** The name that another name in its lists stands for, if no model has that other name itself. */
  nameBehind?(name: string): string | undefined;
  /** The body of `GET /models/<id>`. */
  showModel(card: ModelCard): object;
  /** What programs that a person has signed in ask for besides; absent for an API without such programs. */
  programs?: ApiPrograms;
  /** The configuration of a desktop program; absent for an API without one. */
  desktop?: ApiDesktop;
  /** How its batches look; absent for an API without batches. */
  batches?: BatchFormat;
}

/** What programs ask for that a person has signed in to the router. Paths are below the prefixes. */
export interface ApiPrograms {
  settingsPath: string;
  /** The settings of a program, for a person who may use these models. */
  settings(cards: readonly ModelCard[]): object;
  /** Where they send their telemetry, which is thrown away. */
  telemetryPaths: string[];
}

/** A program that asks for its whole configuration with a token of the company's identity provider. */
export interface ApiDesktop {
  /** Below the prefixes. */
  path: string;
  /** The configuration for a person who may use these models. */
  configuration(cards: readonly ModelCard[], facts: DesktopFacts): object;
}

export interface DesktopFacts {
  /** Of the API, as clients have it. */
  baseUrl: string;
  /** The identity provider of the person. */
  issuer: string;
  /** How people sign in there, and further settings, as the registry has them. */
  desktop: {
    client_id: string;
    scopes?: readonly string[] | undefined;
    redirect_port?: number | undefined;
    bearer_token_type?: string | undefined;
    settings: Readonly<Record<string, unknown>>;
  };
}

/** The public description of a model. */
export interface ModelCard {
  id: string;
  /** When the first worker that serves it started, in seconds since 1970. */
  created: number;
  ownedBy: string;
  /** The tiers that serve it; none for a name that stands for any model. */
  tiers: readonly string[];
  /** What it can be asked for. */
  operations: readonly ModelOperation[];
  /** What its requests may use, where some worker that serves it announces that: `tools`, `vision`, `thinking`, `json` and others. */
  capabilities: readonly string[];
  /** Tokens of input and output together, where known. */
  contextWindow?: number | undefined;
  /** Most output tokens, where known. */
  maxOutput?: number | undefined;
  /** Output tokens per second of its last answers, where known. */
  tokensPerSecond?: number | undefined;
}

/** Whether a model generates answers: other ones are of no use in a list of models to converse with. */
export function generates({ operations }: Pick<ModelCard, 'operations'>): boolean {
  return operations.includes('generate');
}
