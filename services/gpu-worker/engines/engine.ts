import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { EngineHttp } from '../engine-http.ts';

/** The engines that are known by name, and `openai` for anything else that speaks the chat format. */
export const engineKinds = ['vllm', 'sglang', 'llama-cpp', 'ollama', 'lm-studio', 'openai'] as const;
export type EngineKind = (typeof engineKinds)[number];

/** What an engine tells about itself. */
export interface Discovery {
  models: ModelInfo[];
  /** Requests that it works on at once, where it tells. */
  slots?: number | undefined;
}

/** What the worker has to know of one kind of engine. All of them take `POST /v1/chat/completions`. */
export interface Engine {
  readonly kind: EngineKind;
  /** A path that answers 200 to GET while the engine can serve. */
  readonly healthPath: string;
  /**
   * Asks the engine what it serves.
   * @param before what it served when it was last asked: some engines tell certain facts only while a model is loaded
   * @throws UpstreamAnswerError when it answers something else, and the errors of the connection
   */
  discover(http: EngineHttp, before: readonly ModelInfo[]): Promise<Discovery>;
  /**
   * The request in the engine's own dialect: what it rejects is gone, what it needs is there. Pure; the request given
   * is not changed.
   * @throws RouterError 400 that names a field which cannot be honoured
   */
  adapt(request: JsonObject, model: ModelInfo): JsonObject;
  /**
   * Tokens of a chat request's input, tools and template included, counted without inference.
   * Absent where the engine offers no way.
   */
  countTokens?(http: EngineHttp, request: JsonObject, signal: AbortSignal): Promise<number>;
}
