import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Releases } from '#shared/core/release.ts';
import { compare } from './compare.ts';
import { runCost } from './cost/main.ts';
import { judge } from './report/judge.ts';
import { measureFlatness } from './measure-flatness.ts';
import { measureOpenStreams } from './measure-open-streams.ts';
import { everydayRequest } from './peers/cells/request-body.ts';
import { runPeers } from './peers/main.ts';
import { fullPlan, quickPlan, type Plan } from './plan.ts';
import type { Results } from './report/results.ts';
import { report } from './report/report.ts';
import { sendMixed } from './load/send-mixed.ts';
import { startBenchCluster } from './cluster/start-bench-cluster.ts';
import { releaseAtSignals, releaseEverything } from './cluster/release-at-end.ts';

/*
 * `npm run bench`: measures the cost of the cluster, on real processes. `--quick` for a short run with wide limits, `--json <file>` for the
 * numbers. Exits with 1 when a limit is exceeded. With `--peers`, compares it with others: see `peers/main.ts`. With `--cost`, compares its
 * processor time with a bare proxy's, and that with what is kept: see `cost/main.ts`.
 */

const args = process.argv.slice(2);
const releases = new Releases();
releaseAtSignals(releases);

let passed = false;
try {
  if (args.includes('--peers')) {
    await runPeers(args, releases);
    passed = true;
  } else passed = args.includes('--cost') ? await runCost(args, releases) : await runBench();
} finally {
  await releaseEverything(releases);
}
process.exit(passed ? 0 : 1);

/** Measures the cluster, and returns whether every limit is met. */
async function runBench(): Promise<boolean> {
  const { values } = parseArgs({
    args,
    options: { quick: { type: 'boolean', default: false }, json: { type: 'string' } },
  });
  const plan = values.quick ? quickPlan : fullPlan;
  const results = await measure(plan);
  const verdicts = judge(results, plan.budget);
  process.stdout.write(report(results, verdicts));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ ...results, verdicts }, null, 2)}\n`);
  return verdicts.every((verdict) => verdict.passed);
}

async function measure(plan: Plan): Promise<Results> {
  const { rounds, seconds } = plan;
  const cluster = await startBenchCluster(releases);
  for (const target of [cluster.bare, cluster.through]) await sendMixed(cluster, target, plan.warmUpRequests);
  say('one request at a time');
  const whole = everydayRequest('bench-whole');
  const alone = { connections: 1, seconds: Math.min(seconds, 2) };
  const single = await compare(cluster, { body: whole, ...alone, rampSeconds: 0, rounds });
  say('32 requests at a time');
  const busy = await compare(cluster, { body: whole, connections: 32, seconds, rampSeconds: 0, rounds });
  say(`${plan.streams} streams`);
  const stream = everydayRequest('bench-steady');
  const streams = await compare(cluster, { body: stream, connections: plan.streams, seconds, rampSeconds: 1, rounds });
  say(`${plan.flatRequests} requests`);
  const flatness = await measureFlatness(cluster, plan.flatRequests);
  say(`${plan.openStreams} open streams`);
  const openStreams = await measureOpenStreams(cluster, plan.openStreams);
  const machine = { cores: availableParallelism(), node: process.version };
  return { machine, single, busy, streams, flatness, openStreams };
}

function say(what: string): void {
  process.stderr.write(`measuring ${what} …\n`);
}
