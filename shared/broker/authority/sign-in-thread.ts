import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Authority } from './authority.ts';
import type { CredentialRequest, IssuedCredential } from './issue-credential.ts';

/** What a thread signs: a credential, or without a request the servers' configuration. */
export interface SigningTask {
  authority: Authority;
  request?: CredentialRequest;
}

/** Milliseconds for a task, the loading of the code included. */
const longestMs = 20_000;

/**
 * `issueCredential` in a thread of its own: its signatures take a tenth of a second, and this thread has streams to relay.
 * @throws what the thread failed with
 */
export function issueInThread(authority: Authority, request: CredentialRequest): Promise<IssuedCredential> {
  return run<IssuedCredential>({ authority, request });
}

/** `serverConfig` in a thread of its own. @throws what the thread failed with */
export function configureInThread(authority: Authority): Promise<string> {
  return run<string>({ authority });
}

async function run<Signed>(task: SigningTask): Promise<Signed> {
  const worker = new Worker(new URL('signing-thread.ts', import.meta.url), { workerData: task });
  try {
    const [signed] = (await once(worker, 'message', { signal: AbortSignal.timeout(longestMs) })) as [Signed];
    return signed;
  } finally {
    await worker.terminate();
  }
}
