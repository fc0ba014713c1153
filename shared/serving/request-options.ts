import type { RequestPurpose } from '#shared/core/purpose.ts';
import type { NamedSession } from './compute-affinity.ts';

/** Options of a request that are not in its body. */
export interface RequestOptions {
  /** The client's headers that are sent to an upstream of the same format; undefined if the client sent none of them. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The session that the client's headers name; undefined if they name no session. */
  session?: NamedSession | undefined;
  sentFor: RequestPurpose;
  /** Milliseconds that the client waits for a worker; undefined if the client sets no limit. */
  maxWaitMs?: number | undefined;
  /** Whether another worker may continue the stream if the stream's worker is lost. Default: true. */
  continues?: boolean | undefined;
  /** Whether one worker must serve the whole request, even if several workers could share it. Default: false. */
  isWhole?: boolean | undefined;
}
