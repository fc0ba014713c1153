import { parentPort, workerData } from 'node:worker_threads';
import { buildServerConfig } from './authority.ts';
import { issueCredential } from './credentials.ts';
import type { SigningTask } from './run-signing-thread.ts';

// `issueCredentialInThread` and `buildServerConfigInThread` run this file in a thread, which does one task and ends.
const { authority, request } = workerData as SigningTask;
parentPort?.postMessage(await (request ? issueCredential(authority, request) : buildServerConfig(authority)), []);
