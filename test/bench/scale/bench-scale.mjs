import { bootstrap } from '#services/rtr/bootstrap/bootstrap.mjs';

await bootstrap('test/bench/scale/main.ts', process.argv.slice(2), { checks: false });
