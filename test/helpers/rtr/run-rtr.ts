import { inject } from 'vitest';
import { runCommand } from '../processes/run-command.ts';
import { builtFile } from '../processes/built-file.ts';
import { compileCache } from '../processes/start-process.ts';

export interface EndedRtr {
  code: number | null;
  out: string;
  err: string;
}

/** Runs `rtr` as a process, for a cluster on the stores of the run unless the environment names others. */
export async function runRtr(
  { prefix }: { prefix: string },
  words: readonly string[],
  environment: Record<string, string> = {},
): Promise<EndedRtr> {
  const stores = { NATS_URL: inject('natsUrl'), REDIS_URL: inject('redisUrl'), RTR_PREFIX: prefix };
  const env = { NODE_COMPILE_CACHE: compileCache, ...stores, ...environment };
  const command = runCommand(process.execPath, [builtFile('services/rtr/main.ts'), ...words], {
    cwd: process.cwd(),
    env,
  });
  return { code: await command.ended, out: command.out, err: command.err };
}
