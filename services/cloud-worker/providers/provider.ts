import type { Capability, ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { Environment } from '#shared/core/load-config.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import type { RequestRules } from '../requests/apply-rules.ts';

/** The providers that are known by name, and `custom` for anything else that speaks an upstream format. */
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

/** Gives the headers that prove who asks. Asked for every request, because some proofs are good for an hour only. */
export type Authorization = () => Record<string, string> | Promise<Record<string, string>>;

/** What a model can do by its name; undefined for one that gives no chat answers. */
export type Guess = (id: string) => readonly Capability[] | undefined;

/** A change of chat requests that is more than a rule. */
export interface Adaptation {
  /** What it does, for the table of providers in docs/agents-and-providers.md. */
  readonly words: string;
  /** The request with the change, made after the rules were applied. Pure; the request given is not changed. */
  readonly apply: (request: JsonObject, model: ModelInfo) => JsonObject;
}

/** What the worker has to know of one provider. */
export interface Provider {
  /** Its name as people write it. */
  readonly title: string;
  /** The format that its endpoint speaks. */
  readonly format: HttpUpstreamFormat;
  /** Variables that hold its key, the most usual first. The first that is set counts. */
  readonly keyVariables: readonly string[];
  /** Further variables that must be set to reach it. */
  readonly needs: readonly string[];
  /** The address that the format's path is added to. Gets an environment in which all `needs` are set. */
  readonly url: (environment: Environment) => string;
  /** Makes the proof of a key. */
  readonly authorize: (key: string | undefined) => Authorization;
  /** Set where it can do without a key of the operator's. */
  readonly keyless?: boolean;
  /** Where its models are listed, and how to read the answer; undefined where only the operator can name them. */
  readonly list?: { path: string; read: (answer: unknown) => ModelInfo[] } | undefined;
  /** Models to serve where nothing lists them, unless the operator names others. */
  readonly fixedModels?: (environment: Environment) => readonly string[];
  /** What a model can do by its name, where the list does not tell. */
  readonly guess: Guess;
  /** How a chat request is changed for it; empty for a provider that takes what clients of its format send. */
  readonly rules: RequestRules;
  /** What the rules cannot say. */
  readonly adaptation?: Adaptation | undefined;
  /** Whether a chat request's files are taken. */
  readonly takesFiles?: boolean;
}
