import type { Capability, ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { Environment } from '#shared/core/load-config.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import type { Adaptation, RequestRules } from './request-rules.ts';

/** Names of the known providers, and `custom` for any other provider that speaks a known upstream format. */
export const providerNames = [
  'openai',
  'anthropic',
  'gemini',
  'mistral',
  'groq',
  'deepseek',
  'xai',
  'openrouter',
  'together',
  'fireworks',
  'cerebras',
  'azure',
  'bedrock',
  'bedrock-claude',
  'vertex',
  'custom',
] as const;
export type ProviderName = (typeof providerNames)[number];

/** Returns the headers that authenticate a request. Called for every request, because some tokens expire after an hour. */
export type Authorization = () => Record<string, string> | Promise<Record<string, string>>;

/** Guesses a model's capabilities from its name. Returns undefined for a model that is not served unless the operator names it. */
export type Guess = (id: string) => readonly Capability[] | undefined;

export interface FurtherFormat {
  readonly format: HttpUpstreamFormat;
  /** How this format serves a model: `also`, besides the main format; `only`, in place of the main format; or `not`. */
  readonly serves: (id: string) => 'also' | 'only' | 'not';
  /** Whether the provider produces and reads `compaction` items in this format. */
  readonly compacts?: boolean;
  /** Whether the provider encrypts its thinking on request in this format. Other providers may refuse a request for encrypted thinking. */
  readonly encrypts?: boolean;
  readonly adaptation?: Adaptation | undefined;
}

export interface Provider {
  readonly title: string;
  /** `gen_ai.provider.name` of OpenTelemetry's conventions; default: the value of `PROVIDER`. */
  readonly traceName?: string;
  readonly format: HttpUpstreamFormat;
  /** Other wire formats below the same URL. */
  readonly otherFormats?: readonly FurtherFormat[];
  /** Variables that may hold the provider's key. The first one that is set counts. */
  readonly keyVariables: readonly string[];
  /** Variables besides the key that must be set, unless `PROVIDER_URL` is set. */
  readonly needs: readonly string[];
  /** Returns the URL to which the format's path is appended. Called with an environment in which all `needs` are set. */
  readonly url: (environment: Environment) => string;
  readonly authorize: (key: string | undefined) => Authorization;
  /** Whether the provider works without a key of the operator. */
  readonly keyless?: boolean;
  /** Path of the model list, and a reader of the answer; undefined if the provider has no list. */
  readonly list?: { path: string; read: (answer: unknown) => ModelInfo[] } | undefined;
  /** Returns the models to serve if there is no list, unless the operator names others. */
  readonly fixedModels?: (environment: Environment) => readonly string[];
  /** Guesses the capabilities of a model whose list entry lacks them. */
  readonly guess: Guess;
  /** Changes of requests in the main format, if that is chat; empty for a provider that accepts all fields that clients send. */
  readonly rules: RequestRules;
  /** Further changes of requests in the main format, made after the rules. */
  readonly adaptation?: Adaptation | undefined;
  /** Whether the provider accepts thinking that it has signed for any account, so that a conversation is not bound to one account. */
  readonly takesAnyThinking?: boolean;
  /** Whether the provider accepts files in chat requests. */
  readonly takesFiles?: boolean;
  /** Whether the provider supports custom tools in chat requests. */
  readonly takesCustomTools?: boolean;
}

/** Sends a key as `Authorization: Bearer` (RFC 6750), which most providers expect. */
export const bearer: Provider['authorize'] = (key) => {
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return () => headers;
};

/** Sends a key unchanged in a header of its own. */
export function keyHeader(name: string): Provider['authorize'] {
  return (key) => {
    const headers: Record<string, string> = key === undefined ? {} : { [name]: key };
    return () => headers;
  };
}
