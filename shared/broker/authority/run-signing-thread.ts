import { runInThread } from '#shared/core/run-in-thread.ts';
import type { Authority } from './authority.ts';
import type { CredentialRequest, NewCredential, NewToken, TokenRequest } from './credentials.ts';

/** The task of a signing thread: to issue a credential or several tokens, or, without a request, to build the servers' configuration. */
export interface SigningTask {
  authority: Authority;
  request?: CredentialRequest;
  tokens?: readonly TokenRequest[];
}

/**
 * Runs `issueCredential` in a thread of its own, because its signatures take a tenth of a second, which would delay the streams in this
 * thread.
 * @throws the error with which the thread failed
 */
export function issueCredentialInThread(authority: Authority, request: CredentialRequest): Promise<NewCredential> {
  return runSigningThread<NewCredential>({ authority, request });
}

/**
 * Runs `issueToken` for each request in one thread.
 * @throws the error with which the thread failed
 */
export function issueTokensInThread(authority: Authority, tokens: readonly TokenRequest[]): Promise<NewToken[]> {
  return runSigningThread<NewToken[]>({ authority, tokens });
}

/**
 * Runs `buildServerConfig` in a thread of its own.
 * @throws the error with which the thread failed
 */
export function buildServerConfigInThread(authority: Authority): Promise<string> {
  return runSigningThread<string>({ authority });
}

function runSigningThread<Signed>(task: SigningTask): Promise<Signed> {
  return runInThread<Signed>(new URL('signing-thread.ts', import.meta.url), task);
}
