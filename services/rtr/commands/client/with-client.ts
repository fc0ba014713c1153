import type { Readable, Writable } from 'node:stream';
import type { ClientConfig } from '../../config.ts';
import { findOwnRouter } from '../../up/cluster-addresses.ts';
import { UpError } from '../../up/up-error.ts';
import type { ClientContext } from './client-context.ts';
import { ProgressBar, type BarOutput } from './progress-bar.ts';
import { RouterClient } from './router-client.ts';

export interface ClientOptions {
  config: ClientConfig;
  /** Folder in which `rtr up` keeps the files of a cluster on this machine. It may be missing. */
  folder: string;
  json: boolean;
  print: (line: string) => void;
  input: Readable;
  output: Writable;
  barOutput: BarOutput;
}

/**
 * Runs a command that uses the router as its clients do.
 * @throws UpError if `RTR_KEY` is not set
 */
export async function withClient(
  { config, folder, json, print, input, output, barOutput }: ClientOptions,
  command: (context: ClientContext) => Promise<unknown>,
): Promise<void> {
  const { RTR_URL: url = findOwnRouter(config, folder).url, RTR_KEY: key, CHAT_FAMILY: segment } = config;
  if (key === undefined) throw new UpError('Set RTR_KEY to an API key of the router, and RTR_URL to its address.');
  const client = new RouterClient({ url, key, segment });
  await command({ client, bar: new ProgressBar(barOutput), print, input, output, json });
}
