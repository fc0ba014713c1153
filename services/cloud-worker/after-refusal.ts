import { RouterError } from '#shared/core/errors.ts';
import { effortAfter, type LeastEffort } from '#shared/upstream/least-thinking.ts';

/** A request that a provider may refuse for what can be changed in it. */
export interface Changeable<Request> {
  /** Name of its format. */
  format: string;
  /** The least effort that it asks for, which the model may refuse. */
  least: LeastEffort | undefined;
  /** Makes the same request in another format, should the provider not have the path of this one. Holds the client's body. */
  inOther?: (() => Request) | undefined;
  /** Makes the same request with this effort, should the model refuse the one that it has. Holds the client's body. */
  withEffort?: ((effort: string) => Request) | undefined;
}

/** What a request was changed in, after refusals. */
export interface Changes {
  /** Whether it is in another format than the one that was chosen first. */
  isElsewhere?: boolean;
  effort?: string | undefined;
}

/** A refusal that is to be remembered if the request is answered without what was refused. */
export interface Lesson {
  what: string;
  instead?: string;
}

/** What a path that a provider does not have is answered with. */
const noSuchPath = 404;

/** What OpenAI answers a request with functions for a model that takes these at another path, which it names, only. */
const badRequest = 400;

/** Whether an answer with this status may be followed by a changed request. */
export function mayBeChanged(status: number): boolean {
  return status === noSuchPath || status === badRequest;
}

/** The request to send after an error, and what was learned if that is answered; undefined if another one would not help. */
export function afterRefusal<Request>(
  error: unknown,
  status: number,
  { format, least, inOther, withEffort }: Changeable<Request>,
  hasTools: boolean,
): { prepared: Request; lesson: Lesson } | undefined {
  const isElsewhere = status === badRequest && hasTools && isServedAtResponses(error);
  if ((status === noSuchPath || isElsewhere) && inOther) {
    // A model that does not exist is answered so at every path.
    return { prepared: inOther(), lesson: { what: isElsewhere ? withTools(format) : format } };
  }
  const effort = least && status === badRequest ? effortAfter(error, least) : undefined;
  if (least === undefined || effort === undefined || !withEffort) return undefined;
  return { prepared: withEffort(effort), lesson: { what: least, instead: effort } };
}

/** What a format's path is remembered by that takes no requests with tools. */
export function withTools(format: string): string {
  return `${format} with tools`;
}

/** As OpenAI words it of gpt-5.4 and later. */
function isServedAtResponses(error: unknown): boolean {
  return error instanceof RouterError && error.param === 'reasoning_effort' && error.message.includes('/v1/responses');
}
