import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';

/**
 * Reads `+ group` and `- group`, until its input ends: then the worker is gone, in whatever way, and all process groups that are
 * left are killed and the folder with their files is removed.
 */
const script = `
groups=" "
while read -r what group; do
  case $what in
    +) groups="$groups$group " ;;
    -) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
for group in $groups; do kill -KILL -- "-$group" 2>/dev/null; done
rm -rf -- "$1"
`;

/**
 * Sees to it that no CLI and no file of one outlives the worker, even a worker that is killed: a process of its own that
 * notices the worker's end and does what the worker no longer can.
 */
export class ProcessGuard {
  readonly #child: ChildProcessByStdio<Writable, null, null>;

  /**
   * @param folder is removed with everything in it
   * @param path the PATH, on which `rm` is found
   */
  constructor(folder: string, path: string | undefined) {
    this.#child = spawn('/bin/sh', ['-c', script, 'guard', folder], {
      // Not in the worker's group: a Ctrl-C must not end it before its work is done.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH: path },
    });
    this.#child.unref();
    // It ended before the worker: there is nothing left to tell it.
    this.#child.stdin.on('error', () => undefined);
  }

  /** @param group id of a process group: that of its first process */
  watch(group: number): void {
    this.#child.stdin.write(`+ ${group}\n`);
  }

  /** Ends the watch; the system may give the id to somebody else. */
  forget(group: number): void {
    this.#child.stdin.write(`- ${group}\n`);
  }

  /** Lets it do its work and end. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.ref();
    this.#child.stdin.end();
    await gone;
  }
}
