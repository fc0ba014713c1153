import type { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';

/** A request whose answer is to be made in the background. */
export interface BackgroundRequest {
  /** Its text as it is served: streamed, and without what asks for the background. */
  body: () => Buffer;
  /** The answer's object before anything is done for it. */
  queued: (id: string) => JsonObject;
}

/** The states of an answer that is made in the background. */
export const backgroundStates = ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'] as const;
export type BackgroundState = (typeof backgroundStates)[number];

/** Events and the number of the last of them. */
export interface NumberedEvents {
  events: string;
  last: number;
}

/** The event that ends a stream, and the answer in it. */
export interface EndingEvent extends NumberedEvents {
  state: 'completed' | 'incomplete' | 'failed';
  answer: JsonObject;
}

/** How the answers of a format are made in the background: what is shown of them, and the numbered events of their streams. */
export interface BackgroundAnswers {
  /** The answer's object in another state. */
  inState: (answer: JsonObject, state: BackgroundState) => JsonObject;
  /** The events of an answer that waits; the first one has the number 0. */
  queuedEvents: (queued: JsonObject) => NumberedEvents;
  /** The event which says that it is being made. */
  begunEvents: (queued: JsonObject, number: number) => NumberedEvents;
  /** The number of the last of these whole events; undefined if none has one. */
  lastNumber: (events: string) => number | undefined;
  /** Those of these whole events that have a higher number. */
  eventsAfter: (events: string, number: number) => string;
  /** Where the event that ends a stream begins in these whole events; -1 if it is not among them. */
  endAt: (events: string) => number;
  /**
   * The event that ends a stream as it is kept: its answer says that it was made in the background.
   * @param queued the answer's object before anything was done for it
   * @returns undefined for what is no such event
   */
  ending: (event: string, queued: JsonObject) => EndingEvent | undefined;
  /** The event that ends the stream of an answer that failed. */
  failure: (error: RouterError, queued: JsonObject, number: number) => EndingEvent;
  /** The event that ends a stream whose client is not to take what it has received for an answer. It belongs to no answer. */
  brokenEvent: (error: { code: string; message: string }, number: number) => string;
}
