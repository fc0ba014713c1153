import type { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';

export interface BackgroundRequest {
  /** Returns the request's text as it is served: streamed, and without the field that requests a background response. */
  body: () => Buffer;
  /** Returns the answer's object in the state before any work. */
  queuedAnswer: (id: string) => JsonObject;
}

export const backgroundStates = ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'] as const;
export type BackgroundState = (typeof backgroundStates)[number];

/** Events as text, with the number of the last event. */
export interface NumberedEvents {
  events: string;
  last: number;
}

export interface EndingEvent extends NumberedEvents {
  state: 'completed' | 'incomplete' | 'failed';
  answer: JsonObject;
}

/** How a format writes background responses, and how it numbers the events of their streams. */
export interface BackgroundAnswers {
  /** Returns a copy of the answer's object with another state. */
  withState: (answer: JsonObject, state: BackgroundState) => JsonObject;
  /** Returns the events of a queued answer. The first event has the number 0. */
  writeQueuedEvents: (queued: JsonObject) => NumberedEvents;
  /** Returns the event that reports the state `in_progress`. */
  writeInProgressEvent: (queued: JsonObject, number: number) => NumberedEvents;
  /** Returns the number of the last numbered event; undefined if no event has a number. */
  findLastNumber: (events: string) => number | undefined;
  /** Returns the events with a number above `number`. */
  selectEventsAfter: (events: string, number: number) => string;
  /** Returns the offset of the event that ends the stream; -1 if the events do not include it. */
  findEndOffset: (events: string) => number;
  /**
   * Reads the event that ends a stream, and marks its answer as a background response. Called before the answer is stored.
   * @param queued the answer's object before any work
   * @returns undefined for any other event
   */
  readEnding: (event: string, queued: JsonObject) => EndingEvent | undefined;
  /** Returns the event that ends a stream with an error. */
  writeFailureEvent: (error: RouterError, queued: JsonObject, number: number) => EndingEvent;
  /** Returns an error event that ends a stream without an answer. It makes the client discard the events that it has received. */
  writeBrokenEvent: (error: { code: string; message: string }, number: number) => string;
}
