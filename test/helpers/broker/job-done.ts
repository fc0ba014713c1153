import type { JobEnd } from '#shared/broker/contract/job-contract.ts';
import { noUsage } from '#shared/core/usage.ts';

/** What a handler returns that has served its job. */
export const jobDone: JobEnd = { usage: noUsage, finishReason: 'stop' };
