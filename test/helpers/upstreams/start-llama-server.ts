import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { killGroup, spawnGuarded, stopChild } from '#services/rtr/up/children/child.ts';
import { makeGguf } from './make-gguf.ts';

export interface LlamaServer {
  url: string;
  stop(): Promise<void>;
  kill(): void;
}

/** Path of the llama-server that `get-llama-server.sh` unpacks, from the root of the project. */
const unpacked = '.rtr/cache/llama-server/llama-server';

/**
 * Returns the path of this machine's llama-server: `LLAMA_SERVER`, one on the PATH, or the one that `get-llama-server.sh` has unpacked.
 * Undefined when there is none.
 */
export function findLlamaServer(): string | undefined {
  const candidates = [process.env['LLAMA_SERVER'], 'llama-server', resolve(unpacked)];
  return candidates.find((program) => {
    if (program === undefined || (program.includes('/') && !existsSync(program))) return false;
    return spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
  });
}

export interface LlamaOptions {
  slots?: number;
  context?: number;
  alias?: string;
  /** Bytes of the model's file. Default: the tiny chat model. */
  weights?: Buffer;
  /** Further flags, such as `--embeddings`. */
  flags?: readonly string[];
}

/** Runs llama-server on a free port, with the tiny model, slots that share the tokens of a context, and no further settings. */
export async function startLlamaServer(
  program: string,
  { slots = 2, context = 16_384, alias = 'tiny', weights = makeGguf({ context }), flags = [] }: LlamaOptions = {},
): Promise<LlamaServer> {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-test-llama-'));
  const model = join(folder, 'tiny.gguf');
  writeFileSync(model, weights);
  const shape = { parallel: String(slots), 'ctx-size': String(context) };
  const options = { model, alias, port: '0', threads: '1', ...shape, seed: '7' };
  const named = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawnGuarded(program, [...named, ...flags]);
  const { promise, resolve: found, reject } = Promise.withResolvers<string>();
  const timer = setTimeout(() => reject(new Error('llama-server did not start within 20 s')), 20_000);
  let seen = '';
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => {
      seen = (seen + text).slice(-4096);
      const url = /listening on (http:\/\/[\d.]+:\d+)/.exec(seen)?.[1];
      if (url !== undefined) found(url);
    });
  }
  child.once('error', reject).once('exit', () => reject(new Error(`llama-server ended: ${seen}`)));
  const stop = async (): Promise<void> => {
    await stopChild(child, 5000);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    return { url: await promise, stop, kill: () => killGroup(child) };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
