import { createLog } from '#shared/core/log.ts';

/** A log whose lines no test reads. */
export const silentLog = createLog({ service: 'test', level: 'silent', format: 'json' });
