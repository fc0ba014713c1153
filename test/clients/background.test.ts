import { beforeAll, describe, expect, it } from 'vitest';
import { startCluster } from '../helpers/cluster/start-cluster.ts';
import { installClient } from './install-client.ts';
import { library } from './library.ts';
import { roster } from './roster.ts';
import { runCommand } from './run-command.ts';
import { useStarted } from '../helpers/use-started.ts';
import { temporaryFolder } from '../helpers/files/temporary-folder.ts';

/** Programs that use every helper of an SDK for what is done in the background, and end with an error for a wrong answer. */
const programs = [
  { name: 'openai, Python', has: 'files and batches', program: 'openai-batches-python.py', prints: '120 answers' },
  {
    name: 'openai, Python',
    has: 'responses',
    program: 'openai-background-python.py',
    prints: '12 events, and the rest',
  },
  { name: 'anthropic, Python', has: 'batches', program: 'anthropic-batches-python.py', prints: '61 results' },
];

/** Milliseconds for one program. */
const timeout = 120_000;

const cluster = useStarted(() => startCluster({ worker: { SLOTS: '16' } }));
beforeAll(() => cluster.addBatchRunner());

describe.each(programs)('$name', ({ name, has, program, prints }) => {
  it(`has ${has} in the background, with its own helpers`, async () => {
    const { from } = roster.find((client) => client.name === name) ?? {};
    if (!from) throw new Error(`there is no ${name} in the roster`);
    const client = library(name, from, { formats: [], program });
    const installed = await installClient(client);
    const folder = temporaryFolder();
    const { url } = cluster;
    // What other programs have made is not in its lists.
    const { raw: key } = await cluster.addKey({});
    const turn = { format: '', model: 'demo', prompt: '', url, key, installed, folder };
    const { code, out, err } = await runCommand(client.start(turn), turn, timeout);
    expect(code, err).toBe(0);
    expect(out.trim()).toBe(prints);
  });
});
