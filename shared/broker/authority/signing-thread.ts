import { parentPort, workerData } from 'node:worker_threads';
import { buildServerConfig } from './authority.ts';
import { issueCredential, issueToken, type NewCredential, type NewToken } from './credentials.ts';
import type { SigningTask } from './run-signing-thread.ts';

// The functions of `run-signing-thread.ts` run this file in a thread, which does one task and ends.
parentPort?.postMessage(await sign(workerData as SigningTask), []);

function sign({ authority, request, tokens }: SigningTask): Promise<NewCredential | NewToken[] | string> {
  if (request) return issueCredential(authority, request);
  if (tokens) return Promise.all(tokens.map((token) => issueToken(authority, token)));
  return buildServerConfig(authority);
}
