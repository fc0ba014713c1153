import type { Capability, ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { Environment } from '#shared/core/load-config.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import type { Adaptation, RequestRules } from './request-rules.ts';

/** The providers known by name, and `custom` for any other with a known upstream format. */
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

/** Guesses a model's capabilities from its name; undefined for a model that does not chat. */
export type Guess = (id: string) => readonly Capability[] | undefined;

/** A wire format that a provider serves beside its main one. */
export interface FurtherFormat {
  readonly format: HttpUpstreamFormat;
  /** Whether a model is served in this format besides the main one, in this one only, or not in this one. */
  readonly serves: (id: string) => 'also' | 'only' | 'not';
  /** Whether it makes and reads `compaction` items in this format. */
  readonly compacts?: boolean;
  /** Whether it encrypts its thinking where a request in this format asks for that; others may refuse to be asked. */
  readonly encrypts?: boolean;
  /** Changes of requests in this format. */
  readonly adaptation?: Adaptation | undefined;
}

/** One provider, as the worker uses it. */
export interface Provider {
  /** Its name in messages and docs. */
  readonly title: string;
  /** `gen_ai.provider.name` of OpenTelemetry's conventions; default: its own name. */
  readonly traceName?: string;
  /** Its main wire format. */
  readonly format: HttpUpstreamFormat;
  /** Other wire formats below the same address. */
  readonly further?: readonly FurtherFormat[];
  /** Variables that may hold its key. The first that is set counts. */
  readonly keyVariables: readonly string[];
  /** Further variables that must be set. */
  readonly needs: readonly string[];
  /** Returns the address to which the format's path is appended. All `needs` are set in the environment. */
  readonly url: (environment: Environment) => string;
  /** Creates the authorization for a key. */
  readonly authorize: (key: string | undefined) => Authorization;
  /** Whether it works without a key of the operator's. */
  readonly keyless?: boolean;
  /** The path of its list of models, and a reader of the answer; undefined if only the operator can name the models. */
  readonly list?: { path: string; read: (answer: unknown) => ModelInfo[] } | undefined;
  /** Models to serve if there is no list, unless the operator names others. */
  readonly fixedModels?: (environment: Environment) => readonly string[];
  /** Guesses capabilities that the list does not include. */
  readonly guess: Guess;
  /** Changes of requests in its main format, if that is chat; empty for a provider that accepts all that clients of it send. */
  readonly rules: RequestRules;
  /** Further changes of requests in its main format, after the rules. */
  readonly adaptation?: Adaptation | undefined;
  /** Whether it takes thinking that it has signed for any account, so that nothing of it is bound to one. */
  readonly takesAnyThinking?: boolean;
  /** Whether it accepts files in chat requests. */
  readonly takesFiles?: boolean;
  /** Whether it has custom tools in chat requests. */
  readonly takesCustomTools?: boolean;
}

/** Sends a key as `Authorization: Bearer` (RFC 6750), as most providers expect it. */
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
