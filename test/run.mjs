import { bootstrap } from '#services/rtr/bootstrap/bootstrap.mjs';

await bootstrap('test/run/run-checks.ts', process.argv.slice(2), { checks: true });
