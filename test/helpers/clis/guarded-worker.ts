import { CliProcess } from '#services/cli-worker/process/cli-process.ts';
import { ProcessGuard } from '#services/cli-worker/process/process-guard.ts';

/*
 * A worker with one CLI under a guard, which stays until it is killed. Arguments: the guard's shell, the folder, the guard's PATH, and ids
 * of further groups to guard. Prints the CLI's process group.
 */

const [shell = '', folder = '', path = '', ...further] = process.argv.slice(2);

/** A shell, its child, a child of that, and a second child. None of them ends on SIGTERM or when its input ends. */
const tree = `trap '' TERM; sh -c 'sleep 600 & wait' & sleep 600 & wait`;

const guard = new ProcessGuard(folder, path, shell);
for (const group of further) guard.add(Number(group));
const environment = { PATH: process.env['PATH'] ?? '' };
const { pid } = new CliProcess({ command: 'sh', args: ['-c', tree], cwd: folder, environment, guard });
console.log(JSON.stringify({ msg: 'started', group: pid }));
setInterval(() => undefined, 1000);
