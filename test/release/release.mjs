import { bootstrap } from '#services/rtr/bootstrap/bootstrap.mjs';

await bootstrap('test/release/make-release.ts', process.argv.slice(2), { checks: true });
