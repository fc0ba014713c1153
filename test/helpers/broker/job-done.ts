import type { JobEnd } from '#shared/broker/contract/job-contract.ts';
import { noUsage } from '#shared/core/usage.ts';

/** Result of a handler that has served its job. */
export const jobDone: JobEnd = { usage: noUsage, finishReason: 'stop' };
