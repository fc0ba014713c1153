import type { RequestPurpose } from '#shared/core/purpose.ts';
import type { NamedSession } from './compute-affinity.ts';

/** How a request is to be served, besides what its body says. */
export interface RequestOptions {
  /** The client's headers that are sent to an upstream of the same format; undefined if the client sent none of them. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The session that the client's headers name; undefined if they name no session. */
  session?: NamedSession | undefined;
  sentFor: RequestPurpose;
  /** Milliseconds that the client waits for a worker; undefined if the client sets no limit. */
  maxWaitMs?: number | undefined;
  /** Whether another worker may continue the stream when the worker of the stream is lost; default: true. */
  continues?: boolean | undefined;
  /** Whether one worker must serve the whole request, even if several could share it; default: false. */
  isWhole?: boolean | undefined;
}
