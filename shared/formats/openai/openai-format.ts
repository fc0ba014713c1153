import type { z } from 'zod';
import type { JsonObject } from '#shared/core/json.ts';
import { openaiApi } from '../apis/openai-api.ts';
import { chatStreamAdditions } from '../chat/stream-additions.ts';
import {
  autoModel,
  type ClientFormat,
  type DivisibleRequest,
  type LimitStatus,
  type Needs,
  type RequestParameters,
} from '../client-format.ts';
import { readJsonRequest } from '../json-request.ts';
import { PlainStream, StatelessStream } from '../sse/streamed-answer.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';
import { createOpenaiErrorAnswer } from './error.ts';
import { createProblemError } from './problem-error.ts';

/** A format of OpenAI's API whose answers are not streams of events: what it does not share with the others. */
interface EventlessFormat<Request> {
  name: string;
  routes: ClientFormat['routes'];
  answerIdPrefix: string;
  /** The fields that the router reads. All other fields pass unchecked. */
  schema: z.ZodType;
  /**
   * Checks what the schema cannot express.
   * @throws RouterError that names the field
   */
  check?: (request: Request) => void;
  estimateInput: (request: Request) => Pick<Needs, 'inputTokens' | 'longestInput'>;
  /** Reads parameters besides the model and the needs. */
  readParameters?: (request: Request) => Partial<RequestParameters>;
  divide?: (request: Request) => DivisibleRequest | undefined;
  /** Whether answers are bytes that the router relays unchanged, such as sound. */
  sendsBytes?: boolean;
}

/** Creates a format of OpenAI's API whose answers are not streams of events. A request without `model` leaves the choice to the router. */
export function createEventlessFormat<Request extends JsonObject>(format: EventlessFormat<Request>): ClientFormat {
  const { name, routes, answerIdPrefix, schema, check, estimateInput, readParameters, divide, sendsBytes } = format;
  const parse = (body: unknown): Request => {
    const parsed = schema.safeParse(body);
    if (!parsed.success) throw createProblemError(findFirstProblem(parsed.error, body));
    check?.(body as Request);
    return body as Request;
  };
  const toParameters = (request: Request): RequestParameters => ({
    model: typeof request['model'] === 'string' ? request['model'] : autoModel,
    stream: false,
    needs: { tools: false, vision: false, thinking: false, json: false, ...estimateInput(request) },
    maxOutput: 0,
    serviceTier: undefined,
    conversation: undefined,
    ...readParameters?.(request),
  });
  return {
    name,
    api: openaiApi,
    routes,
    passedHeaders: [],
    answerIdPrefix,
    read: (body) => {
      let checked: Request | undefined;
      const request = readJsonRequest(body, (parsed, skim) => {
        // The strings of a form's files are long.
        checked = routes[0].isForm === true ? skim(() => parse(parsed)) : parse(parsed);
        return toParameters(checked);
      });
      return { ...request, divisible: checked && divide?.(checked) };
    },
    estimateInput: (request) => estimateInput(request as Request).inputTokens,
    errorAnswer: createOpenaiErrorAnswer,
    ...(sendsBytes === true && { answerHeaders: ['content-type'] }),
    limitHeaders: createOpenaiLimitHeaders,
    // Answers of JSON are never streamed. The type requires the function, so the additions of the chat format are used.
    openStream: ({ requestId }) =>
      sendsBytes === true ? new PlainStream() : new StatelessStream(chatStreamAdditions, requestId),
  };
}

/** Returns `x-ratelimit-{limit,remaining,reset}-{requests,tokens}` (OpenAI API guide, "Rate limits in headers"). */
export function createOpenaiLimitHeaders({ at, requests, tokens }: LimitStatus): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [kind, left] of Object.entries({ requests, tokens })) {
    if (!left) continue;
    headers[`x-ratelimit-limit-${kind}`] = String(left.limit);
    headers[`x-ratelimit-remaining-${kind}`] = String(left.remaining);
    headers[`x-ratelimit-reset-${kind}`] = formatDuration(left.resetsAt - at);
  }
  return headers;
}

/** Formats a duration as OpenAI does, such as `20ms`, `1s`, `6m0s` or `5h20m0s`. */
function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, ms)}ms`;
  const seconds = Math.ceil(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return `${hours > 0 ? `${hours}h` : ''}${seconds >= 60 ? `${minutes}m` : ''}${seconds % 60}s`;
}
