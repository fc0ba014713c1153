import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { readOutputBound } from '#shared/formats/context-overflow.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { completionsUpstream } from '#shared/translate/same-format/completions-to-completions.ts';
import { responsesUpstream } from '#shared/translate/upstreams/responses/responses-upstream.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';

/** The formats of requests that are fitted. Clients of the messages format read the error and lower the limit themselves. */
const fittedFormats: ReadonlySet<HttpUpstreamFormat> = new Set([chatUpstream, completionsUpstream, responsesUpstream]);

/** The fields of these formats that limit output tokens. */
const limitFields = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'] as const;

/** The lowest limit with which a request is sent again, in tokens. With less room, clients should shorten the conversation instead. */
const minLimit = 1_024;

/**
 * Maximum number of times that the limit of one request is lowered. The first new limit may be too high if the upstream does not report the
 * length of the input.
 */
const maxLowerings = 2;

/** A request with a limit of output tokens that its upstream may accept. */
export interface FittedRequest {
  limit: number;
  body: Buffer[];
}

export interface OutputFitParts {
  format: HttpUpstreamFormat;
  /** The request as sent to the upstream. */
  request: JsonObject;
  write: (request: JsonObject) => Buffer[];
  /** Counts the input tokens of the request, for upstreams that report only the size of the context. */
  countInput: () => Promise<number>;
}

/**
 * Lowers a request's limit of output tokens after the upstream has refused the limit. The new limit is the number of tokens that fit
 * according to the upstream's error. Keeps the request until `release`.
 */
export class OutputFit {
  #parts: OutputFitParts | undefined;
  #limit = Number.POSITIVE_INFINITY;
  #lowerings = 0;

  private constructor(parts: OutputFitParts) {
    this.#parts = parts;
  }

  /** Returns undefined for a request without a limit of output tokens, or in a format whose requests are not fitted. */
  static createFor(parts: OutputFitParts): OutputFit | undefined {
    const isLimited = limitFields.some((field) => typeof parts.request[field] === 'number');
    return isLimited && fittedFormats.has(parts.format) ? new OutputFit(parts) : undefined;
  }

  /** Releases the request. Call it once the upstream has accepted the request. */
  release(): void {
    this.#parts = undefined;
  }

  /**
   * Returns the request with a lower limit, to be sent after this error of the upstream. Returns undefined if a lower limit would not help,
   * or would leave too few tokens.
   */
  async lowerLimit(error: unknown): Promise<FittedRequest | undefined> {
    const parts = this.#parts;
    const maximum = error instanceof RouterError ? readOutputBound(error.details) : undefined;
    if (!parts || !maximum || this.#lowerings === maxLowerings) return undefined;
    const fields = limitFields.filter((field) => typeof parts.request[field] === 'number');
    const room = maximum.tokens ?? maximum.context - (maximum.input ?? (await parts.countInput()));
    // The router's count of the input may be lower than the upstream's, so the second time the limit is at least halved.
    const limit = this.#lowerings === 0 ? room : Math.min(room, Math.floor(this.#limit / 2));
    const requested = Math.max(...fields.map((field) => Number(parts.request[field])));
    if (limit < minLimit || limit >= Math.min(requested, this.#limit)) return undefined;
    this.#lowerings += 1;
    this.#limit = limit;
    const loweredFields = fields.flatMap((field) => (Number(parts.request[field]) > limit ? [[field, limit]] : []));
    return { limit, body: parts.write({ ...parts.request, ...Object.fromEntries(loweredFields) }) };
  }
}
