import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';

/**
 * Reads lines `+ group` and `- group` until its input ends, which happens when the worker ends for any reason. Then it kills the process
 * groups that are left, and removes the folder. On Linux it also kills processes outside these groups that have their home in the folder.
 * `kill -s KILL --` is the one form that every shell accepts; dash refuses `kill -KILL --`. A group that has ended by itself is no error.
 * SIGPIPE is ignored, because the reader of standard error may have ended with the worker.
 */
const script = `
trap '' PIPE
groups=" "
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
for group in $groups; do
  error=$(kill -s KILL -- "-$group" 2>&1) && continue
  case $error in
    *'No such process'*) ;;
    *) echo "the process guard cannot kill group $group: $error" >&2 ;;
  esac
done
for search in 1 2 3 4 5; do
  left=$(grep -lsaF -- "HOME=$1/" /proc/[0-9]*/environ)
  [ -n "$left" ] || break
  for file in $left; do
    pid=\${file#/proc/}
    kill -s KILL -- "\${pid%/environ}" 2>/dev/null
  done
done
rm -rf -- "$1"
`;

/**
 * Ends all CLI processes and removes their files when the worker ends, even by SIGKILL. Runs as a separate process that notices the
 * worker's end. Its errors go to the worker's standard error.
 */
export class ProcessGuard {
  readonly #child: ChildProcessByStdio<Writable, null, null>;

  /**
   * @param folder removed with everything in it; contains the homes of the processes
   * @param path the PATH with `rm` and `grep`
   * @param shell any POSIX shell, to run the script
   */
  constructor(folder: string, path: string | undefined, shell = '/bin/sh') {
    this.#child = spawn(shell, ['-c', script, 'guard', folder], {
      // The guard is not in the worker's process group, because a Ctrl-C must not end it before its work is done.
      detached: true,
      stdio: ['pipe', 'ignore', 'inherit'],
      env: { PATH: path },
    });
    this.#child.unref();
    // A broken pipe means that the guard has ended before the worker.
    this.#child.stdin.on('error', () => undefined);
  }

  /**
   * Adds a process group to the groups that the guard kills.
   * @param group id of the group, which is the id of its first process
   */
  add(group: number): void {
    this.#child.stdin.write(`+ ${group}\n`);
  }

  /** Removes a group that has ended, because the system may give its id to another program. */
  remove(group: number): void {
    this.#child.stdin.write(`- ${group}\n`);
  }

  /** Makes the guard end all processes now. Resolves when the guard has ended. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const guardEnd = once(this.#child, 'exit');
    this.#child.ref();
    this.#child.stdin.end();
    await guardEnd;
  }
}
