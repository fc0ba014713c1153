import { RouterError } from '#shared/core/errors.ts';
import { chooseAcceptedEffort, type MinimalEffort } from '#shared/upstream/minimal-thinking.ts';

/** A request that can be changed after a provider has refused it. */
export interface ChangeableRequest<Request> {
  format: string;
  /** Effort level of the request if it is one of the lowest, which the model may refuse; undefined for other levels. */
  leastEffort: MinimalEffort | undefined;
  /** Creates the same request in another format, for a provider that lacks the path of `format`. Keeps the client's body in memory. */
  inOtherFormat?: (() => Request) | undefined;
  /** Creates the same request with this effort, for a model that refuses the current one. Keeps the client's body in memory. */
  withEffort?: ((effort: string) => Request) | undefined;
}

export interface RequestChanges {
  /** Whether the request is in another format than the first choice. */
  isInOtherFormat?: boolean;
  effort?: string | undefined;
}

/** What a provider has refused; remembered for the model if the changed request is answered. */
export interface RefusalToRemember {
  refused: string;
  instead?: string;
}

/** Status for a path that a provider does not have. */
const noSuchPath = 404;

/**
 * Status with which OpenAI refuses functions for a model that accepts functions only at another path. The error's message names that path.
 */
const badRequest = 400;

/** Returns whether an answer with this status may be followed by a changed request. */
export function mayRetryChanged(status: number): boolean {
  return status === noSuchPath || status === badRequest;
}

/** Returns the request to send after an error, and the refusal to remember if that request is answered; undefined if no change helps. */
export function findChangedRequest<Request>(
  error: unknown,
  status: number,
  { format, leastEffort, inOtherFormat, withEffort }: ChangeableRequest<Request>,
  hasTools: boolean,
): { prepared: Request; lesson: RefusalToRemember } | undefined {
  const isOtherFormat = status === badRequest && hasTools && namesResponsesPath(error);
  if ((status === noSuchPath || isOtherFormat) && inOtherFormat) {
    // A request for a model that does not exist also gets this status, at every path. The changed request shows whether it is the path.
    return { prepared: inOtherFormat(), lesson: { refused: isOtherFormat ? toolsRefusalName(format) : format } };
  }
  const effort = leastEffort && status === badRequest ? chooseAcceptedEffort(error, leastEffort) : undefined;
  if (leastEffort === undefined || effort === undefined || !withEffort) return undefined;
  return { prepared: withEffort(effort), lesson: { refused: leastEffort, instead: effort } };
}

/** Returns the name under which a refusal of requests with tools in a format is remembered. */
export function toolsRefusalName(format: string): string {
  return `${format} with tools`;
}

/** Matches the wording of OpenAI for gpt-5.4 and later. */
function namesResponsesPath(error: unknown): boolean {
  return error instanceof RouterError && error.param === 'reasoning_effort' && error.message.includes('/v1/responses');
}
