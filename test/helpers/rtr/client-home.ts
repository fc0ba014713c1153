import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../files/temporary-folder.ts';
import { hostNode, runCommand } from '../processes/run-command.ts';

const program = join(import.meta.dirname, '../../../services/rtr/client/rtr.mjs');

/** Creates the home of a person, for the running test, with files whose paths are below it. The client reads and writes nothing else. */
export function clientHome(files: Record<string, string> = {}) {
  const home = temporaryFolder();
  const write = (path: string, text: string): string => {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const own = { HOME: home, XDG_CONFIG_HOME: home, CLAUDE_CONFIG_DIR: '', CODEX_HOME: '' };
  /** Runs the client to its end. */
  const run = async (words: readonly string[], variables: Record<string, string> = {}) => {
    const command = runCommand(hostNode(), [program, ...words], { cwd: home, env: { ...own, ...variables } });
    return { code: await command.ended, out: command.out, err: command.err };
  };
  return { home, write, run };
}

/** Returns the file with the tokens of a router, and the list of routers that names only this one. */
export function signedInFiles(router: string) {
  const name = createHash('sha256').update(router).digest('hex').slice(0, 16);
  const list = JSON.stringify({ default: router, routers: { [router]: { store: 'file' } } });
  return { tokensFile: `rtr/${name}.tokens.json`, lists: { 'rtr/routers.json': list } };
}
