import { beforeAll, expect, it } from 'vitest';
import { startCluster } from '../helpers/cluster/start-cluster.ts';
import { installClient } from './install-client.ts';
import { library } from './library.ts';
import { roster } from './roster.ts';
import { runCommand } from './run-command.ts';
import { useStarted } from '../helpers/use-started.ts';
import { temporaryFolder } from '../helpers/files/temporary-folder.ts';

/** Programs that use every helper of an SDK for what is done in the background, and end with an error for a wrong answer. */
const programs = [
  ['openai, Python', 'files and batches', 'openai-batches-python.py', '120 answers'],
  ['openai, Python', 'responses', 'openai-background-python.py', '12 events, and the rest'],
  ['anthropic, Python', 'batches', 'anthropic-batches-python.py', '61 results'],
] as const;

const cluster = useStarted(() => startCluster({ worker: { SLOTS: '16' } }));
beforeAll(() => cluster.addBatchRunner());

it.each(programs)('%s, has %s in the background, with its own helpers', async (name, _, program, prints) => {
  const { from } = roster.find((client) => client.name === name) ?? {};
  if (!from) throw new Error(`there is no ${name} in the roster`);
  const client = library(name, from, program, []);
  const installed = await installClient(client);
  // What other programs have made is not in its lists.
  const { raw: key } = await cluster.addKey({});
  const turn = { format: '', model: 'demo', prompt: '', url: cluster.url, key, installed, folder: temporaryFolder() };
  const { code, out, err } = await runCommand(client.start(turn), turn, 120_000);
  expect(code, err).toBe(0);
  expect(out.trim()).toBe(prints);
});
