import type { IncomingHttpHeaders } from 'node:http';
import type { BatchFormat } from './batches/batch-format.ts';
import type { ModelOperation } from '#shared/core/operation.ts';

/** The paths below one segment of `/api/`. The SDKs of one vendor use these paths with one base URL and one key. */
export interface ClientApi {
  segment: string;
  /** The setting of the ingress that renames the segment; undefined for a segment with a fixed name. */
  segmentSetting?: 'CHAT_FAMILY';
  /** Path prefixes of the API's formats below the segment; `''` for no prefix. Clients may use any of these prefixes. */
  prefixes: readonly string[];
  /** A header that may carry the key, in addition to `Authorization: Bearer`. */
  keyHeader?: string;
  /** Answers to GET requests without a key, by path. Each path exists below the segment and at the root. */
  greetings?: Readonly<Record<string, object>>;
  /**
   * Returns the body of `GET /models`.
   * @param cards the models that the key may use
   */
  listModels(
    cards: readonly ModelCard[],
    query: Readonly<Record<string, unknown>>,
    headers: IncomingHttpHeaders,
  ): object;
  /**
   * Resolves an alias from the API's model list to a model's name; undefined for any other name. A model that is named like the alias takes
   * precedence.
   */
  nameBehind?(name: string): string | undefined;
  /** Returns the body of `GET /models/<id>`. */
  showModel(card: ModelCard): object;
  programs?: ApiPrograms;
  desktop?: ApiDesktop;
  /** Absent for an API without batches. */
  batches?: BatchFormat;
}

export interface ApiPrograms {
  settingsPath: string;
  /**
   * Returns the settings of a program.
   * @param cards the models that the program's user may use
   */
  settings(cards: readonly ModelCard[]): object;
  /** The paths to which programs send telemetry. The router discards it. */
  telemetryPaths: string[];
}

/** A program that fetches its whole configuration with a token of the company's identity provider. */
export interface ApiDesktop {
  /** The path below the API's prefixes. */
  path: string;
  /**
   * Returns the configuration for a person.
   * @param cards the models that the person may use
   */
  configuration(cards: readonly ModelCard[], facts: DesktopFacts): object;
}

export interface DesktopFacts {
  /** The URL under which clients reach the API. */
  baseUrl: string;
  issuer: string;
  /** The sign-in settings for the identity provider, and further settings, from the registry. */
  desktop: {
    client_id: string;
    scopes?: readonly string[] | undefined;
    redirect_port?: number | undefined;
    bearer_token_type?: string | undefined;
    settings: Readonly<Record<string, unknown>>;
  };
}

/** A model as lists of models describe it. */
export interface ModelCard {
  id: string;
  /** When the first worker with the model started, in seconds since 1970. */
  created: number;
  ownedBy: string;
  /** The tiers that serve the model; empty for a name that stands for any model. */
  tiers: readonly string[];
  operations: readonly ModelOperation[];
  /** Capabilities that at least one worker with the model announces, such as `tools`, `vision`, `thinking` and `json`. */
  capabilities: readonly string[];
  /** Tokens of input and output together; undefined if unknown. */
  contextWindow?: number | undefined;
  /** Maximum output tokens; undefined if unknown. */
  maxOutput?: number | undefined;
  /** Output tokens per second of the model's recent answers; undefined if unknown. */
  tokensPerSecond?: number | undefined;
}

/** Whether a model generates answers. Lists for chat programs leave out all other models. */
export function generatesAnswers({ operations }: Pick<ModelCard, 'operations'>): boolean {
  return operations.includes('generate');
}
