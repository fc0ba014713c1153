import type { JobEnd } from '#shared/broker/contract/job-contract.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { chooseAcceptedEffort, type MinimalEffort } from '#shared/upstream/minimal-thinking.ts';
import type { ModelRefusals } from '#shared/upstream/model-refusals.ts';
import type { WrittenRequest } from '#shared/upstream/request-writer.ts';
import type { ParsedJob } from '#shared/worker/job-upstream.ts';
import type { ProviderRoute } from './providers/provider-routes.ts';

/** A request to a provider. It has a `retry` if it can be changed after a refusal. */
export interface ProviderRequest extends WrittenRequest {
  retry?: RefusalRetry;
}

/** The difference between a request and the first choice, which the provider has refused. */
export interface RequestChanges {
  isInOtherFormat?: boolean;
  effort?: string;
}

/** Prepares changed requests. */
interface RequestPreparer {
  prepare(parsed: ParsedJob, route: ProviderRoute, changes: RequestChanges): ProviderRequest;
  /** Returns the route to take if the provider lacks the path of `route`; undefined if there is no other. */
  findOtherRoute(parsed: ParsedJob, route: ProviderRoute): ProviderRoute | undefined;
}

export interface RefusalRetryParts {
  preparer: RequestPreparer;
  parsed: ParsedJob;
  route: ProviderRoute;
  changes: RequestChanges;
  /** Effort level of the request if it is one of the lowest, which the model may refuse; undefined for other levels. */
  leastEffort: MinimalEffort | undefined;
}

/** A feature that a provider has refused. It is remembered for the model if the changed request is answered. */
interface Refusal {
  feature: string;
  replacement?: string;
}

/** Status for a path that a provider does not have. */
const noSuchPath = 404;

/**
 * Status with which OpenAI refuses functions for a model that accepts functions only at another path. The error's message names that path.
 */
const badRequest = 400;

/** Changes a request after its provider has refused it. Keeps the client's request in memory until the provider has accepted it. */
export class RefusalRetry {
  #parts: RefusalRetryParts | undefined;
  #status = 0;

  constructor(parts: RefusalRetryParts) {
    this.#parts = parts;
  }

  /** Notes the status of the last answer, and drops the client's request if no changed request can follow that status. */
  readonly noteStatus = (status: number): void => {
    this.#status = status;
    if (status !== noSuchPath && status !== badRequest) this.#parts = undefined;
  };

  /** Returns the request to send after an error, and the refused feature; undefined if no change helps. */
  change(error: unknown): { request: ProviderRequest; refusal: Refusal } | undefined {
    if (!this.#parts) return undefined;
    const { preparer, parsed, route, changes, leastEffort } = this.#parts;
    const format = route.format.name;
    const lacksTools = this.#status === badRequest && hasTools(parsed.read.request) && namesResponsesPath(error);
    const mayTakeOther = changes.isInOtherFormat !== true && (this.#status === noSuchPath || lacksTools);
    const otherRoute = mayTakeOther ? preparer.findOtherRoute(parsed, route) : undefined;
    if (otherRoute) {
      // A request for a model that does not exist also gets this status, at every path. The changed request shows whether the path is the
      // reason.
      const request = preparer.prepare(parsed, otherRoute, { ...changes, isInOtherFormat: true });
      return { request, refusal: { feature: lacksTools ? toolsFeature(format) : format } };
    }
    const effort = leastEffort && this.#status === badRequest ? chooseAcceptedEffort(error, leastEffort) : undefined;
    if (leastEffort === undefined || effort === undefined) return undefined;
    const request = preparer.prepare(parsed, route, { ...changes, effort });
    return { request, refusal: { feature: leastEffort, replacement: effort } };
  }
}

/** Sends a request. After a refusal, sends a changed request. If the changed request is answered, remembers the refusals for the model. */
export async function sendWithRetries(
  first: ProviderRequest,
  send: (request: ProviderRequest) => Promise<JobEnd>,
  memory: ModelRefusals,
  signal: AbortSignal,
): Promise<JobEnd> {
  const refusals: Refusal[] = [];
  for (let request = first; ;) {
    try {
      const end = await send(request);
      for (const { feature, replacement } of refusals) memory.record(request.job.model, feature, replacement);
      return end;
    } catch (error) {
      const changed = signal.aborted ? undefined : request.retry?.change(error);
      if (!changed) throw error;
      refusals.push(changed.refusal);
      request = changed.request;
    }
  }
}

/** Returns whether requests in a format are known to be refused for a model. */
export function isFormatRefused(memory: ModelRefusals, model: string, format: string, request: JsonObject): boolean {
  return memory.isRefused(model, format) || (hasTools(request) && memory.isRefused(model, toolsFeature(format)));
}

/** Returns the name under which a refusal of requests with tools in a format is remembered. */
function toolsFeature(format: string): string {
  return `${format} with tools`;
}

function hasTools({ tools }: JsonObject): boolean {
  return Array.isArray(tools) && tools.length > 0;
}

/** Returns whether an error names the responses path, in the wording of OpenAI for gpt-5.4 and later. */
function namesResponsesPath(error: unknown): boolean {
  return error instanceof RouterError && error.param === 'reasoning_effort' && error.message.includes('/v1/responses');
}
