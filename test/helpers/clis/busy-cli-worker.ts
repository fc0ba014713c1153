import type { CliKind } from '#services/cli-worker/clis/cli.ts';
import { until } from '../until.ts';
import { openCliWorker } from './open-cli-worker.ts';

/*
 * A worker with two processes of a CLI, one of which holds a conversation that does not end, until it is killed. Arguments: the
 * guard's shell, the kind of CLI, its program, its model. Prints the folder of its files.
 */

const [shell = '', kind = '', command = '', model = ''] = process.argv.slice(2);

const worker = await openCliWorker({
  shell,
  kind: kind as CliKind,
  command,
  models: [model],
  size: 2,
  startMs: 200_000,
  environment: process.env,
});
await until(() => worker.ready() === 2, 200_000);
const messages = [{ role: 'user', content: 'Hello [fake pieces=1000 delay=100]' }];
void worker.run({ messages, stream: true }, {}, undefined, (piece) => {
  if (piece.includes('word1')) console.log(JSON.stringify({ msg: 'busy', root: worker.root }));
});
