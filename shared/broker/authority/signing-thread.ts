import { parentPort, workerData } from 'node:worker_threads';
import { serverConfig } from './authority.ts';
import { issueCredential } from './issue-credential.ts';
import type { SigningTask } from './sign-in-thread.ts';

// The thread of `issueCredentialInThread` and `buildServerConfigInThread`. It does one task and ends.
const { authority, request } = workerData as SigningTask;
parentPort?.postMessage(await (request ? issueCredential(authority, request) : serverConfig(authority)), []);
