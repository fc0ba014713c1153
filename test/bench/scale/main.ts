import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Releases } from '#shared/core/release.ts';
import { renderScaleRun } from '../../docs/tables/render-scale.ts';
import { releaseAtSignals, releaseEverything } from '../cluster/release-at-end.ts';
import { measurePhase, type PhaseResult } from './measure-phase.ts';
import { phasesOf } from './phases.ts';
import { startScaleCluster, type ScaleSize } from './scale-cluster.ts';
import { keepScaleRun, scaleRunNames, type ScaleRun } from './scale-results.ts';
import { machineFacts, watchOthers } from '../peers/systems/machine.ts';

/*
 * `npm run bench:scale`: measures the cost of a large cluster for each of its components, idle, under load and through events: one real
 * ingress, one real worker and real servers among stand-ins. `--sizes 10x100,50x500` chooses ingress nodes × workers, `--nats 3` a cluster
 * of three servers, `--queued 100000` the number of waiting requests in the last phase, `--json <file>` writes the figures, `--keep after`
 * keeps them for the documentation.
 */

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10x100,50x500,50x2000' },
    nats: { type: 'string', default: '1' },
    pools: { type: 'string', default: '4' },
    models: { type: 'string', default: '3' },
    slots: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '10' },
    /** Milliseconds until a stand-in answers. */
    answer: { type: 'string', default: '1000' },
    /** Maximum requests a second: the load that the stand-ins can carry on this machine beside everything else. */
    rate: { type: 'string', default: '400' },
    /** Requests that wait in the phase "many wait"; computed from the rate if left out. */
    queued: { type: 'string' },
    /** Phases to run, by the beginning of their names; all if left out. */
    only: { type: 'string', multiple: true },
    json: { type: 'string' },
    keep: { type: 'string' },
  },
});
const keep = scaleRunNames.find((name) => name === values.keep);
if (values.keep !== undefined && keep === undefined) {
  process.stderr.write(`--keep takes one of ${scaleRunNames.join(', ')}\n`);
  process.exit(1);
}

const sizes: ScaleRun['sizes'] = [];
let nats = '';
const others = watchOthers();
for (const text of values.sizes.split(',')) {
  const [ingresses = 1, workers = 1] = text.split('x').map(Number);
  const size: ScaleSize = {
    ingresses,
    workers,
    pools: Number(values.pools),
    models: Number(values.models),
    slots: Number(values.slots),
    answerMs: Number(values.answer),
    natsServers: values.nats === '3' ? 3 : 1,
  };
  sizes.push({ size, phases: await runSize(size) });
}
const date = new Date().toISOString().slice(0, 10);
const run: ScaleRun = { date, nats, machine: machineFacts(), takenByOthers: others(), sizes };
process.stdout.write(renderScaleRun({ after: run }, 'after'));
const taken = Math.round(run.takenByOthers * 100);
process.stdout.write(`\nnats-server ${nats}; other programs took ${taken} % of the machine\n`);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(run, null, 2)}\n`);
if (keep) keepScaleRun(keep, run);
process.exit(0);

async function runSize(size: ScaleSize): Promise<PhaseResult[]> {
  const releases = new Releases();
  releaseAtSignals(releases);
  const phases: PhaseResult[] = [];
  try {
    const cluster = await startScaleCluster(size, releases);
    nats = await cluster.nats.version();
    const queued = values.queued === undefined ? undefined : Number(values.queued);
    for (const phase of phasesOf(size, { seconds: Number(values.seconds), maxRate: Number(values.rate), queued })) {
      if (values.only && !values.only.some((name) => phase.name.startsWith(name))) continue;
      process.stderr.write(`${size.ingresses} × ${size.workers}: ${phase.name}\n`);
      phases.push(await measurePhase(cluster, size, phase));
    }
    return phases;
  } finally {
    await releaseEverything(releases);
  }
}
