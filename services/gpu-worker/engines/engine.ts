import type { Capability, ModelInfo } from '#shared/broker/contract/announcement.ts';
import { toAnnouncedOperations, type ModelOperation } from '#shared/core/operation.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import { sameFormatUpstreams } from '#shared/translate/same-format/same-formats.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { completionsUpstream } from '#shared/translate/same-format/completions-to-completions.ts';
import type { EngineHttp } from '../engine-http.ts';
import { z } from 'zod';

/** The engines with built-in support, and `openai` for any other engine of the chat format. */
export const engineKinds = ['vllm', 'sglang', 'llama-cpp', 'ollama', 'lm-studio', 'openai'] as const;
export type EngineKind = (typeof engineKinds)[number];

/** The format of conversations for every engine. */
export const engineChatFormat = chatUpstream;

/**
 * The formats of requests to engines. Their paths are below `/v1`. A request is translated into the first of these formats that has a
 * translation from the client format.
 */
export const engineFormats: readonly HttpUpstreamFormat[] = [
  engineChatFormat,
  completionsUpstream,
  ...sameFormatUpstreams,
];

export interface Discovery {
  models: ModelInfo[];
  /** Number of requests that the engine processes at once; undefined if the engine does not report the number. */
  slots?: number | undefined;
}

/** How an engine continues an answer. The request to the engine ends with the beginning of the answer, as a message or in the prompt. */
export interface EngineContinuation {
  /**
   * Whether a template may strip spaces from the end of the message. If so, the request omits these spaces, and the engine generates them
   * again.
   */
  readonly mayStripSpaces: boolean;
  /** Whether the engine limits the output tokens of a text completion whose request has no limit. */
  readonly limitsCompletions: boolean;
  /**
   * Counts the tokens of a text.
   * @param text.isPrompt whether the text is a prompt; the tokens that begin every prompt then count. Otherwise the text continues other
   * text
   * @throws UpstreamAnswerError if the engine does not count the text
   * @throws the connection's errors
   */
  countText(
    http: EngineHttp,
    text: { model: string; text: string; isPrompt: boolean },
    signal: AbortSignal,
  ): Promise<number>;
}

/** One kind of engine, as the worker uses it. The operations of its models determine which paths of `engineFormats` it accepts. */
export interface Engine {
  readonly kind: EngineKind;
  /** Whether the engine accepts the effort `none`. A model that can answer without thinking then does not think. */
  readonly switchesThinking?: boolean;
  /** Whether requests with different `cache_salt` share no prefix cache. */
  readonly saltsCaches?: boolean;
  /** See `makesOneChoice` of the model traits. */
  readonly makesOneChoice?: boolean;
  /** Whether an unstreamed answer repeats the beginning that the request contains. A streamed answer continues after that beginning. */
  readonly repeatsBeginning?: boolean;
  /** A path that answers GET with 200 while the engine can serve. */
  readonly healthPath: string;
  /** Format and path for a text completion with a suffix, if the engine accepts no suffix at `/v1/completions`. */
  readonly insertion?: { readonly format: HttpUpstreamFormat; readonly path: string };
  /**
   * How the engine continues an answer that another engine began; absent if it cannot. The models of an engine that can have the capability
   * `continue`.
   */
  readonly continuation?: EngineContinuation;
  /**
   * Queries the engine for its models and slots.
   * @param previousModels the models of the previous query, because some engines describe a model fully only while it is loaded
   * @throws UpstreamAnswerError for an unknown answer
   * @throws the connection's errors
   */
  discover(http: EngineHttp, previousModels: readonly ModelInfo[]): Promise<Discovery>;
  /**
   * Adapts a chat request to the engine: removes fields that the engine rejects, and adds fields that it needs. Does not change `request`.
   * A list that no engine needs to change (`findListsToPass`) may be unparsed. It then has one string in place of its elements and must
   * stay unchanged.
   * @throws RouterError with status 400 that names the field that the engine does not support
   */
  adapt(request: JsonObject, model: ModelInfo): JsonObject;
  /**
   * Counts the input tokens of a chat request without inference. The count includes the tokens of tools and template. Absent if the engine
   * has no endpoint that counts.
   */
  countTokens?(http: EngineHttp, request: JsonObject, signal: AbortSignal): Promise<number>;
}

/** Describes a model as the worker announces it. Capabilities concern only conversations, so a model that does not generate has none. */
export function describeModel(
  id: string,
  operations: readonly ModelOperation[],
  capabilities: readonly Capability[],
  contextWindow: number | undefined,
): ModelInfo {
  const generates = operations.includes('generate');
  return {
    id,
    ...toAnnouncedOperations(operations),
    capabilities: generates ? [...capabilities] : [],
    contextWindow,
  };
}

const positiveInteger = z.number().int().positive().optional().catch(undefined);

/** The answer of every engine to `GET /v1/models`, including fields that only some engines send. */
export const modelList = z.looseObject({
  data: z
    .array(
      z.looseObject({
        id: z.string().min(1),
        owned_by: z.string().optional().catch(undefined),
        /** Maximum tokens of input and output together, from vLLM, SGLang and the demo engine. */
        max_model_len: positiveInteger,
        /** Input modalities such as `text` and `image`, from llama.cpp and some gateways. */
        architecture: z
          .looseObject({ input_modalities: z.array(z.string()).optional().catch(undefined) })
          .optional()
          .catch(undefined),
        /** Context size, from llama.cpp. */
        meta: z.looseObject({ n_ctx: positiveInteger }).nullish().catch(undefined),
      }),
    )
    .nullable()
    .transform((models) => models ?? []),
});
