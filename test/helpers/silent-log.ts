import { createLog } from '#shared/core/log.ts';

/** The log of something whose lines no test reads. */
export const silentLog = createLog({ service: 'test', level: 'silent', format: 'json' });
