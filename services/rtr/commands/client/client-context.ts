import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import type { ProgressBar } from './progress-bar.ts';
import { CallError } from './call-error.ts';
import type { RouterClient } from './router-client.ts';

export interface ClientContext {
  client: RouterClient;
  bar: ProgressBar;
  print: (line: string) => void;
  /** Standard output, for content other than lines. */
  output: Writable;
  input: Readable;
  /** Whether to print one JSON object per line instead of sentences. */
  json: boolean;
}

export type RunClientCommand = (
  options: { json?: true },
  command: (context: ClientContext) => Promise<unknown>,
) => Promise<void>;

/** Milliseconds for which a failing request is repeated. A restarting router is back sooner. */
const retryForMs = 120_000;
/** Milliseconds between two tries. */
const retryEveryMs = 2_000;

export interface RetryOptions {
  /** Milliseconds between two tries. */
  pauseMs?: number;
  /** Called with each failure before the request is repeated. */
  onFailure?: (failure: CallError) => void;
}

/**
 * Sends a request, and repeats it for up to two minutes while its failure may be temporary.
 * @throws CallError with the last failure
 */
export async function retryWhileUnavailable<Answer>(
  send: () => Promise<Answer>,
  { pauseMs = retryEveryMs, onFailure }: RetryOptions = {},
): Promise<Answer> {
  const deadline = performance.now() + retryForMs;
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof CallError && error.mayBeTemporary) || performance.now() > deadline) throw error;
      onFailure?.(error);
      await sleep(pauseMs);
    }
  }
}

/** Descriptions of file system errors, by error code. They follow the name of the file in a sentence. */
const fileErrorTexts: Readonly<Record<string, string>> = {
  ENOENT: 'it is not there',
  EEXIST: 'it is there already',
  EACCES: 'you may not use it',
  EPERM: 'you may not use it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'its parent is not a folder',
  ENOSPC: 'there is no room left',
};

/** Turns a file system error about a file on this machine into an error for the user; returns other errors unchanged. */
export function toLocalFileError(path: string, error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return error;
  return new RouterError(
    'invalid_request',
    `${path} cannot be used: ${fileErrorTexts[String(error.code)] ?? error.message}.`,
    { cause: error },
  );
}
