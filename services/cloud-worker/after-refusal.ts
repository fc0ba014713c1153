import { RouterError } from '#shared/core/errors.ts';
import { chooseAcceptedEffort, type MinimalEffort } from '#shared/upstream/minimal-thinking.ts';

/** A request that can be changed after a provider has refused it. */
export interface Changeable<Request> {
  format: string;
  /** Effort level of the request if it is one of the lowest, which the model may refuse; undefined for other levels. */
  leastEffort: MinimalEffort | undefined;
  /** Creates the same request in another format, for a provider that lacks the path of this format. Keeps the client's body in memory. */
  inOther?: (() => Request) | undefined;
  /** Creates the same request with this effort, for a model that refuses the current one. Keeps the client's body in memory. */
  withEffort?: ((effort: string) => Request) | undefined;
}

export interface Changes {
  /** Whether the request is in a format other than the one chosen first. */
  isElsewhere?: boolean;
  effort?: string | undefined;
}

/** A refusal to remember if the changed request is answered. */
export interface ObservedRefusal {
  refused: string;
  instead?: string;
}

/** Status for a path that a provider does not have. */
const noSuchPath = 404;

/** Status with which OpenAI refuses functions for a model that accepts them only at another path, which its message names. */
const badRequest = 400;

/** Returns whether an answer with this status may be followed by a changed request. */
export function mayRetryChanged(status: number): boolean {
  return status === noSuchPath || status === badRequest;
}

/** Returns the request to send after an error, and the refusal to remember if that request is answered; undefined if no change helps. */
export function changeAfterRefusal<Request>(
  error: unknown,
  status: number,
  { format, leastEffort: least, inOther, withEffort }: Changeable<Request>,
  hasTools: boolean,
): { prepared: Request; lesson: ObservedRefusal } | undefined {
  const isElsewhere = status === badRequest && hasTools && isServedAtResponses(error);
  if ((status === noSuchPath || isElsewhere) && inOther) {
    // A request for a model that does not exist gets this answer at every path, so the changed request shows which is the case.
    return { prepared: inOther(), lesson: { refused: isElsewhere ? toolsRefusalName(format) : format } };
  }
  const effort = least && status === badRequest ? chooseAcceptedEffort(error, least) : undefined;
  if (least === undefined || effort === undefined || !withEffort) return undefined;
  return { prepared: withEffort(effort), lesson: { refused: least, instead: effort } };
}

/** Returns the name under which a refusal of requests with tools in a format is remembered. */
export function toolsRefusalName(format: string): string {
  return `${format} with tools`;
}

/** Matches the wording of OpenAI for gpt-5.4 and later. */
function isServedAtResponses(error: unknown): boolean {
  return error instanceof RouterError && error.param === 'reasoning_effort' && error.message.includes('/v1/responses');
}
