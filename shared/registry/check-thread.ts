import { parentPort, workerData } from 'node:worker_threads';
import { checkRegistry, type RegistryInput } from './check-registry.ts';

// The thread of `checkInThread`: checks one registry and ends.
parentPort?.postMessage(checkRegistry(workerData as RegistryInput), []);
