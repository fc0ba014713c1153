import { createLog } from '#shared/core/log.ts';

/** The log of parts that run in the process of a test; `TEST_LOG` has it written. */
export const silentLog = createLog({ service: 'test', level: process.env['TEST_LOG'] ?? 'silent', format: 'json' });
