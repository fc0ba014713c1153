import { RouterError } from '#shared/core/errors.ts';
import type { ModelOperation } from '#shared/core/operation.ts';
import type { Usage } from '#shared/core/usage.ts';
import { attributeNames as names } from '#shared/core/tracing/attribute-names.ts';
import type { TraceContext, TraceSpan } from '#shared/core/tracing/tracing.ts';

/** The facts about a request to a model that its span records. */
export interface Generation {
  parent: TraceSpan;
  /** The upstream's name in the conventions (`gen_ai.provider.name`), or, without one, its own name: `openai`, `vllm`. */
  provider: string;
  operation: ModelOperation;
  model: string;
  stream: boolean;
  /** Host and port of an upstream over HTTP. */
  server?: { address: string; port: number } | undefined;
}

/**
 * Values of `gen_ai.operation.name`. The names from `rank` on are the router's own, because the conventions have none for these operations.
 */
const operationNames: Record<ModelOperation, string> = {
  generate: 'chat',
  complete: 'text_completion',
  embed: 'embeddings',
  rank: 'rerank',
  moderate: 'moderate',
  draw: 'image_generation',
  redraw: 'image_edit',
  speak: 'speech',
  transcribe: 'transcription',
  translate: 'audio_translation',
};

export interface GenerationEnd {
  usage: Usage;
  finishReason: string;
}

/**
 * The span of one generation (OpenTelemetry, "Semantic conventions for generative AI client spans"). Records duration, time to the first
 * token, tokens and outcome, but no content.
 */
export class GenerationSpan {
  readonly #span: TraceSpan;
  readonly #stream: boolean;
  readonly #startedAt = performance.now();
  #firstPieceAt: number | undefined;

  constructor({ parent, provider, operation, model, stream, server }: Generation) {
    this.#stream = stream;
    const name = operationNames[operation];
    this.#span = parent.child(`${name} ${model}`, 'client', {
      attributes: {
        [names.operation]: name,
        [names.provider]: provider,
        [names.requestModel]: model,
        [names.requestStream]: stream,
        [names.serverAddress]: server?.address,
        [names.serverPort]: server?.port,
      },
    });
  }

  /** The span's trace context. It is sent to the upstream, which may continue the trace. */
  get context(): TraceContext {
    return this.#span.context;
  }

  /** Call it for every piece of the answer. */
  recordPiece(): void {
    this.#firstPieceAt ??= performance.now();
  }

  end({ usage, finishReason }: GenerationEnd): void {
    const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens, reasoningTokens } = usage;
    this.#setTimeToFirstPiece();
    this.#span.set({
      [names.finishReasons]: [finishReason],
      [names.inputTokens]: promptTokens,
      [names.outputTokens]: completionTokens,
      [names.cacheReadTokens]: cachedTokens || undefined,
      [names.cacheCreationTokens]: cacheWriteTokens || undefined,
      [names.reasoningTokens]: reasoningTokens || undefined,
    });
    this.#span.end();
  }

  fail(error: unknown, signal: AbortSignal): void {
    this.#setTimeToFirstPiece();
    this.#span.fail(toErrorType(error, signal));
    this.#span.end();
  }

  #setTimeToFirstPiece(): void {
    if (!this.#stream || this.#firstPieceAt === undefined) return;
    this.#span.set({ [names.timeToFirstChunk]: (this.#firstPieceAt - this.#startedAt) / 1000 });
  }
}

function toErrorType(error: unknown, signal: AbortSignal): string {
  if (error instanceof RouterError) return error.code;
  if (signal.aborted) return 'cancelled';
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '_OTHER';
}
