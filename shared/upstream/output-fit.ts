import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { mostOutput } from '#shared/formats/context-overflow.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { completionsUpstream } from '#shared/translate/upstreams/completions/completions-upstream.ts';
import { responsesUpstream } from '#shared/translate/upstreams/responses/responses-upstream.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';

/** The formats whose requests are fitted. Clients of the messages format read the error, and lower the limit themselves. */
const fittedFormats: ReadonlySet<HttpUpstreamFormat> = new Set([chatUpstream, completionsUpstream, responsesUpstream]);

/** Their fields with a limit of output tokens. */
const limitFields = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'] as const;

/** The least that a limit is lowered to, in tokens. With less room, clients do better to shorten the conversation. */
const leastTokens = 1_024;

/** Times that one request is fitted: where the upstream does not say how long the input is, the first may be too little. */
const mostFits = 2;

/** A request with a limit of output tokens that its upstream may accept. */
export interface Fitted {
  limit: number;
  body: Buffer[];
}

export interface OutputFitParts {
  format: HttpUpstreamFormat;
  /** As sent to the upstream. */
  request: JsonObject;
  write: (request: JsonObject) => Buffer[];
  /** Counts the input tokens of the request, for upstreams that name only the size of the context. */
  countInput: () => Promise<number>;
}

/**
 * Lowers the limit of output tokens of a request that its upstream refuses for it, to what the upstream says that fits. Holds the
 * request until it is released.
 */
export class OutputFit {
  #parts: OutputFitParts | undefined;
  #limit = Number.POSITIVE_INFINITY;
  #fits = 0;

  private constructor(parts: OutputFitParts) {
    this.#parts = parts;
  }

  /** Undefined for a request without such a limit, or of a format whose requests are not fitted. */
  static of(parts: OutputFitParts): OutputFit | undefined {
    const isLimited = limitFields.some((field) => typeof parts.request[field] === 'number');
    return isLimited && fittedFormats.has(parts.format) ? new OutputFit(parts) : undefined;
  }

  /** To be called once the upstream has accepted the request. */
  release(): void {
    this.#parts = undefined;
  }

  /** The request to send after this error; undefined if a lower limit would not help, or would leave too little. */
  async after(error: unknown): Promise<Fitted | undefined> {
    const parts = this.#parts;
    const most = error instanceof RouterError ? mostOutput(error.details) : undefined;
    if (!parts || !most || this.#fits === mostFits) return undefined;
    const fields = limitFields.filter((field) => typeof parts.request[field] === 'number');
    const room = most.tokens ?? most.context - (most.input ?? (await parts.countInput()));
    // What was counted here may be less than the upstream counts.
    const limit = this.#fits === 0 ? room : Math.min(room, Math.floor(this.#limit / 2));
    const asked = Math.max(...fields.map((field) => Number(parts.request[field])));
    if (limit < leastTokens || limit >= Math.min(asked, this.#limit)) return undefined;
    this.#fits += 1;
    this.#limit = limit;
    const lowered = fields.flatMap((field) => (Number(parts.request[field]) > limit ? [[field, limit]] : []));
    return { limit, body: parts.write({ ...parts.request, ...Object.fromEntries(lowered) }) };
  }
}
